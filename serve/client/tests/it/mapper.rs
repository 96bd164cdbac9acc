use kubeshape_client::mapper::{MapError, Mapper, Partial};
use kubeshape_discovery::{Records, Scope, read};

const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"extensions"},"versions":[{"version":"v1beta1","resources":[
    {"resource":"ingresses","singularResource":"ingress","scope":"Namespaced","responseKind":{"kind":"Ingress"},"verbs":[]}]}]},
  {"metadata":{},"versions":[{"version":"v1","resources":[
    {"resource":"pods","singularResource":"pod","scope":"Namespaced","responseKind":{"kind":"Pod"},"shortNames":["po"],"verbs":[]},
    {"resource":"nodes","singularResource":"","scope":"Cluster","responseKind":{"kind":"Node"},"verbs":[]},
    {"resource":"endpoints","singularResource":"","scope":"Namespaced","responseKind":{"kind":"Endpoints"},"verbs":[]}]}]},
  {"metadata":{"name":"networking.k8s.io"},"versions":[
    {"version":"v1","resources":[
      {"resource":"ingresses","singularResource":"ingress","scope":"Namespaced","responseKind":{"kind":"Ingress"},"shortNames":["ing"],"verbs":[]}]},
    {"version":"v1beta1","resources":[
      {"resource":"ingresses","singularResource":"ingress","scope":"Namespaced","responseKind":{"kind":"Ingress"},"verbs":[]},
      {"resource":"olds","singularResource":"old","scope":"Cluster","responseKind":{"kind":"Old"},"verbs":[]}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1","resources":[
    {"resource":"pods","singularResource":"","scope":"Namespaced","responseKind":{"kind":"PodMetrics"},"verbs":[]}]}]}]}"#;

fn mapper() -> Mapper {
    let mut records = Records::default();
    records.add(read::read(GROUPS.as_bytes(), kubeshape_yaml::Limits::default()).expect("discovery"));
    Mapper::new(&records.groups())
}

fn named<'a>(group: &'a str, version: &'a str, resource: &'a str) -> Partial<'a> {
    Partial { group, version, resource }
}

#[test]
fn names_map_to_kinds_in_the_order_of_the_server() {
    let mapper = mapper();
    for (partial, kind) in [
        (named("", "", "pods"), "v1, Pod"),
        (named("", "", "POD"), "v1, Pod"),
        (named("metrics.k8s.io", "", "pods"), "metrics.k8s.io/v1, PodMetrics"),
        (named("metrics", "", "pods"), "metrics.k8s.io/v1, PodMetrics"),
        (named("", "", "ingress"), "extensions/v1beta1, Ingress"),
        (named("networking.k8s.io", "", "ingresses"), "networking.k8s.io/v1, Ingress"),
        (named("networking.k8s.io", "v1beta1", "ingresses"), "networking.k8s.io/v1beta1, Ingress"),
        (named("", "", "olds"), "networking.k8s.io/v1beta1, Old"),
        (named("", "", "node"), "v1, Node"),
        (named("", "", "endpoints"), "v1, Endpoints"),
    ] {
        assert_eq!(mapper.kind_for(partial).map(|kind| kind.to_string()).as_deref(), Ok(kind), "{partial}");
    }
    for partial in
        [named("", "", "none"), named("metrics", "v1", "pods"), named("networking.k8s.io", "v2", "ingresses")]
    {
        assert!(matches!(mapper.kind_for(partial), Err(MapError::None(_))), "{partial}");
    }
    assert_eq!(
        mapper.resource_for(named("", "", "ing")).expect_err("it is a short name").to_string(),
        "the server has no resource \"ing\""
    );
}

#[test]
fn kinds_map_to_resources() {
    let mapper = mapper();
    let mapping = |group, kind, versions: &[&str]| {
        mapper.mapping(group, kind, versions).map(|mapping| (mapping.resource.to_string(), mapping.scope))
    };
    assert_eq!(mapping("", "Node", &[]), Ok(("v1, nodes".to_owned(), Scope::Cluster)));
    let ingress = |version: &str| Ok((format!("networking.k8s.io/{version}, ingresses"), Scope::Namespaced));
    assert_eq!(mapping("networking.k8s.io", "Ingress", &[]), ingress("v1"));
    assert_eq!(mapping("networking.k8s.io", "Ingress", &["v1beta1", "v1"]), ingress("v1beta1"));
    assert_eq!(mapping("networking.k8s.io", "Ingress", &["v7", "v1"]), ingress("v1"));
    assert_eq!(mapping("", "ingress", &[]), Err(MapError::None("kind ingress".to_owned())));
    assert_eq!(mapper.singular("ingresses").as_deref(), Ok("ingress"));
    assert_eq!(mapper.singular("nodes").as_deref(), Ok("node"));
}

#[test]
fn short_names_map_to_resources() {
    let mapper = mapper();
    let expanded = |partial| mapper.resource_for(mapper.expand(partial).as_partial()).map(|found| found.to_string());
    assert_eq!(expanded(named("", "", "po")).as_deref(), Ok("v1, pods"));
    assert_eq!(expanded(named("", "", "ing")).as_deref(), Ok("networking.k8s.io/v1, ingresses"));
    assert_eq!(expanded(named("networking", "", "ing")).as_deref(), Ok("networking.k8s.io/v1, ingresses"));
    assert_eq!(expanded(named("", "", "pods")).as_deref(), Ok("v1, pods"));
    assert!(expanded(named("apps", "", "po")).is_err());
}
