//! CustomResourceDefinitions and structural schemas.
mod check;
mod convert;
mod crd;
pub mod read;
pub mod regex;
mod structural;
mod unfold;

pub use check::{BadValue, ErrorType, StructuralError, validate};
pub use convert::{ConvertError, ConvertErrorKind, convert};
pub use crd::{ApiVersion, Column, Crd, Names, Scale, Scope, Version};
pub use structural::{Structural, usable};
pub use unfold::unfold;
