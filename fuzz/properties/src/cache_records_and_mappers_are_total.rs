//! Whatever a file of the cache or a server contains, reading a record and mapping resources does not panic; a mapping
//! leads back to its kind; and a redirect changes at most the query of a document's URL.

use kubeshape_client::cache::record_of;
use kubeshape_client::mapper::{Mapper, Partial};
use kubeshape_discovery::openapi::Index;
use kubeshape_discovery::{Records, read};
use kubeshape_yaml::Limits;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let _ = record_of(data);
    let text = String::from_utf8_lossy(data);
    let path = "apis/a.io/v1";
    let mut index = Index::read(br#"{"paths":{"apis/a.io/v1":{}}}"#).expect("an index");
    if index.redirect(path, &text) {
        let url = index.url(path).expect("it is there");
        assert!(url.strip_prefix("/openapi/v3/apis/a.io/v1?").is_some_and(str::is_ascii), "{url}");
    }
    let limits = Limits { nodes: 100_000, ..Limits::default() };
    let Ok(document) = read::read(data, limits) else { return };
    let mut records = Records::default();
    records.add(document);
    let groups = records.groups();
    let mapper = Mapper::new(&groups);
    for group in groups.iter().take(8) {
        for version in group.versions.iter().take(8) {
            for resource in version.resources.iter().take(8) {
                let partial = Partial { group: &group.name, version: &version.version, resource: &resource.name };
                let _ = mapper.resource_for(mapper.expand(Partial { group: "", version: "", ..partial }).as_partial());
                let _ = mapper.singular(&resource.name);
                let Ok(kind) = mapper.kind_for(partial) else { continue };
                let mapping = mapper.mapping(&kind.group, &kind.kind, &[&kind.version]).expect("a kind has a resource");
                assert_eq!(mapping.kind, kind);
            }
        }
    }
}
