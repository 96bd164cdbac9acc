//! The client whose limits apply to a request.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The client of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Caller {
    /// The user of its token.
    User(Arc<str>),
    /// The SHA-256 of its token, if the token has no user.
    Token([u8; 32]),
    /// Its address.
    Address(IpAddr),
}

impl Caller {
    /// Returns the client at an address. A client usually has all IPv6 addresses with the same first 64 bits.
    pub(crate) fn at(address: IpAddr) -> Caller {
        Caller::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            address @ IpAddr::V4(_) => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_is_one_client() {
        let at = |text: &str| Caller::at(text.parse().expect("an address"));
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
        assert_eq!(at("10.0.0.1"), at("::ffff:10.0.0.1"));
    }
}
