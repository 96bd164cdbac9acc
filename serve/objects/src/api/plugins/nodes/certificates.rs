//! Requests of kubelets for certificates.

use super::{Asked, Call};
use crate::api::plugins::accounts::MIRROR;
use crate::api::plugins::part::{items, member, text};
use crate::api::plugins::{spec_list, spec_text};
use crate::status::Status;
use crate::value::{meta_text, metadata};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubeshape_policy::Operation;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::GoQuoted;

/// Signers of certificates for kubelets.
const SIGNERS: [&str; 2] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];
const BEGIN: &str = "-----BEGIN CERTIFICATE REQUEST-----";
const END: &str = "-----END CERTIFICATE REQUEST-----";
/// Tags of DER.
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const IDENTIFIER: u8 = 0x06;
/// UTF-8, printable and IA5 strings.
const STRINGS: [u8; 3] = [0x0c, 0x13, 0x16];
/// The identifier 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

impl Call<'_> {
    pub(super) fn node_may_with_certificate(&self, asked: &Asked<'_>) -> Result<(), Status> {
        let request = asked.object.unwrap_or(Value::Null);
        if asked.operation != Operation::Create || !SIGNERS.contains(&spec_text(request, "signerName")) {
            return Ok(());
        }
        let Some(name) = common_name(spec_text(request, "request")) else {
            let why = "unable to parse csr: PEM block type must be CERTIFICATE REQUEST";
            return self.node_may_not(asked, why);
        };
        if name.strip_prefix(super::USER) == Some(asked.node) {
            return Ok(());
        }
        self.node_may_not(asked, &format!("can only create a node CSR with CN=system:node:{}", asked.node))
    }

    pub(super) fn node_may_with_pod_certificate<'v>(
        &'v self,
        asked: &Asked<'v>,
        arena: &'v Bump,
    ) -> Result<(), Status> {
        let refused = |why: String| self.node_may_not(asked, &why);
        // The release in which the feature is on.
        if !self.release().since(37) {
            return refused("PodCertificateRequest feature gate is disabled".to_owned());
        }
        if asked.operation != Operation::Create {
            return refused(format!("unexpected operation {}", asked.operation.name()));
        }
        if !self.path.subresource.is_empty() {
            return refused(format!("unexpected subresource {}", self.path.subresource));
        }
        let request = asked.object.unwrap_or(Value::Null);
        let said = |key: &str| spec_text(request, key);
        let quoted = GoQuoted(said("nodeName"));
        if said("nodeName") != asked.node {
            let node = GoQuoted(asked.node);
            return refused(format!(
                "PodCertificateRequest.Spec.NodeName={quoted}, which is not the requesting node {node}"
            ));
        }
        let missing = |what: &str, status: Status| {
            Status::internal(format!("while retrieving {what} named in the PodCertificateRequest: {}", status.message))
        };
        let node = self.looked_up(["Node", "node"], "", said("nodeName"), arena);
        let node = node.map_err(|status| missing(&format!("node {quoted}"), status))?;
        let qualified = format!("{}/{}", self.path.namespace, said("podName"));
        let of = GoQuoted(&qualified);
        let start = format!("PodCertificateRequest for pod {of}");
        let (asked_uid, uid) = (GoQuoted(said("nodeUID")), meta_text(node, "uid"));
        if said("nodeUID") != uid {
            let uid = GoQuoted(uid);
            return Err(Status::internal(format!(
                "{start} names node UID {asked_uid}, inconsistent with the running node ({uid})"
            )));
        }
        let pod = self.pod_of(said("podName"), arena);
        let pod = pod.map_err(|status| missing(&format!("pod {of}"), status))?;
        let (asked_uid, uid) = (GoQuoted(said("podUID")), meta_text(pod, "uid"));
        if said("podUID") != uid {
            let uid = GoQuoted(uid);
            return Err(Status::internal(format!(
                "{start} contains pod UID ({asked_uid}) which differs from running pod {uid}"
            )));
        }
        if spec_text(pod, "nodeName") != said("nodeName") {
            return refused(format!("pod {of} is not running on node {quoted} named in the PodCertificateRequest"));
        }
        if metadata(pod).get("annotations").is_some_and(|all| all.get(MIRROR).is_some()) {
            return refused(format!("pod {of} is a mirror pod"));
        }
        let (account, of_pod) = (said("serviceAccountName"), spec_text(pod, "serviceAccountName"));
        if account != of_pod {
            let (account, of_pod) = (GoQuoted(account), GoQuoted(of_pod));
            return refused(format!(
                "{start} contains serviceAccountName ({account}) that differs from running pod ({of_pod})"
            ));
        }
        let found = self.looked_up(["ServiceAccount", "serviceaccount"], self.path.namespace, account, arena);
        let qualified = format!("{}/{account}", self.path.namespace);
        let found = found.map_err(|status| missing(&format!("service account {}", GoQuoted(&qualified)), status))?;
        let (asked_uid, uid) = (GoQuoted(said("serviceAccountUID")), meta_text(found, "uid"));
        if said("serviceAccountUID") != uid {
            let uid = GoQuoted(uid);
            return Err(Status::internal(format!(
                "{start} names service account UID {asked_uid}, which differs from the running service account ({uid})"
            )));
        }
        let signer = said("signerName");
        let has = |source: &Value<'_>| {
            member(*source, &["podCertificate"]).is_some_and(|of| text(of, &["signerName"]) == signer)
        };
        let mut volumes = spec_list(pod, "volumes").iter();
        if volumes.any(|volume| items(*volume, &["projected", "sources"]).iter().any(has)) {
            return Ok(());
        }
        let verb = "request-serviceaccounts-podcertificate-signer";
        if self.node_is_authorized(verb, &self.served.group, &signer.replace('/', ":"), account) {
            return Ok(());
        }
        let signer = GoQuoted(signer);
        refused(format!("pod {of} does not mount a podCertificate projected volume for signer {signer}"))
    }
}

/// Returns the common name in the subject of a request (RFC 2986), given as base64 of PEM. Of several, the last counts.
fn common_name(request: &str) -> Option<String> {
    let pem = String::from_utf8(STANDARD.decode(request).ok()?).ok()?;
    let (_, after) = pem.split_once(BEGIN)?;
    let (text, _) = after.split_once(END)?;
    let der = STANDARD.decode(text.split_whitespace().collect::<String>()).ok()?;
    let (request, _) = part(&der, SEQUENCE)?;
    let (info, _) = part(request, SEQUENCE)?;
    let (_version, info) = part(info, INTEGER)?;
    let (mut subject, _) = part(info, SEQUENCE)?;
    let mut name = "";
    while !subject.is_empty() {
        let (mut attributes, rest) = part(subject, SET)?;
        subject = rest;
        while !attributes.is_empty() {
            let (attribute, rest) = part(attributes, SEQUENCE)?;
            attributes = rest;
            let (identifier, value) = part(attribute, IDENTIFIER)?;
            if identifier == COMMON_NAME {
                let (value, _) = STRINGS.iter().find_map(|tag| part(value, *tag))?;
                name = std::str::from_utf8(value).ok()?;
            }
        }
    }
    Some(name.to_owned())
}

/// Returns the content of an element of DER with a tag, and what follows it.
fn part(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first().filter(|_| *found == tag)?;
    let (length, rest) = match usize::from(*first) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (length, rest) = rest.split_at_checked(long - 0x80).filter(|(length, _)| length.len() <= 4)?;
            (length.iter().fold(0, |all, byte| (all << 8) | usize::from(*byte)), rest)
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::{common_name, part};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    /// Wraps content into an element.
    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![tag, u8::try_from(content.len()).expect("short contents")];
        out.extend(content);
        out
    }

    fn request(names: &[&str]) -> String {
        let attribute = |name: &&str| {
            let content = [element(0x06, &[0x55, 0x04, 0x03]), element(0x0c, name.as_bytes())].concat();
            element(0x31, &element(0x30, &content))
        };
        let subject = element(0x30, &names.iter().map(attribute).collect::<Vec<_>>().concat());
        let info = element(0x30, &[element(0x02, &[0]), subject].concat());
        let der = STANDARD.encode(element(0x30, &info));
        STANDARD.encode(format!("{}\n{der}\n{}\n", super::BEGIN, super::END))
    }

    #[test]
    fn the_last_common_name_counts() {
        assert_eq!(common_name(&request(&["a"])).as_deref(), Some("a"));
        assert_eq!(common_name(&request(&["a", "system:node:b"])).as_deref(), Some("system:node:b"));
        assert_eq!(common_name(&request(&[])).as_deref(), Some(""));
        assert_eq!(common_name("bm90IFBFTQ=="), None);
        assert_eq!(common_name("?"), None);
    }

    #[test]
    fn lengths_are_checked() {
        assert_eq!(part(&[0x30, 0x02, 1, 2, 3], 0x30), Some((&[1, 2][..], &[3][..])));
        assert_eq!(part(&[0x30, 0x81, 0x01, 7], 0x30), Some((&[7][..], &[][..])));
        for bytes in [&[0x30][..], &[0x30, 3, 1], &[0x30, 0x85, 1, 1, 1, 1, 1, 0], &[0x30, 0x84, 255, 255, 255, 255]] {
            assert_eq!(part(bytes, 0x30), None, "{bytes:?}");
        }
    }
}
