//! Runs suites with a server: sends the requests of the authors' programs over HTTP in this process.

use http_body_util::{BodyExt, Full};
use kubeshape::test::Server;
use kubeshape_registry::Object;
use kubeshape_suite as suite;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server with at most one definition.
pub(super) struct Http {
    server: Server,
    runtime: Runtime,
    /// The definition that is served.
    definition: Value,
}

impl Http {
    pub(super) fn new() -> Result<Http, String> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let server = runtime.block_on(async { Server::new() });
        Ok(Http { server, runtime, definition: Value::Null })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// The message of a Status that refuses it.
    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let request = request.body(Full::from(text)).map_err(|error| error.to_string())?;
        let answer = self.runtime.block_on(async {
            let response = self.server.service().oneshot(request).await.map_err(|error| error.to_string())?;
            let (code, body) = (response.status().as_u16(), response.into_body());
            let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
            Ok::<_, String>((code, body))
        });
        let (code, body) = answer?;
        let body: Value = serde_json::from_slice(&body).map_err(|error| format!("{code}: {error}"))?;
        if code < 300 { Ok(body) } else { Err(body["message"].as_str().unwrap_or_default().to_owned()) }
    }

    /// Returns the path of the objects of a version, in all namespaces or in one.
    fn objects(&self, version: &str, namespace: &str) -> String {
        let spec = &self.definition["spec"];
        let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
        let namespace = if namespace.is_empty() { String::new() } else { format!("/namespaces/{namespace}") };
        format!("/apis/{group}/{version}{namespace}/{plural}")
    }

    fn object(&self, object: &Object, subresource: &str) -> String {
        let version = object.api_version().rsplit('/').next().unwrap_or_default();
        format!("{}/{}{subresource}", self.objects(version, object.namespace()), object.name())
    }

    fn path_of_definition(definition: &Value) -> String {
        format!("{DEFINITIONS}/{}", text(&definition["metadata"]["name"]))
    }

    fn replace(&self, object: &Object, live: &Object, subresource: &str) -> Result<Object, String> {
        let mut value = object.value().clone();
        // An update of a custom resource needs a revision.
        value["metadata"]["resourceVersion"] = live.value()["metadata"]["resourceVersion"].clone();
        self.send("PUT", &self.object(object, subresource), &value).map(Object::from)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl suite::Server for Http {
    fn define(&mut self, definition: &Value) -> Result<(), String> {
        if self.definition == *definition {
            let versions = definition["spec"]["versions"].as_array();
            let served = versions.into_iter().flatten().find(|version| version["served"] == true);
            let version = served.map(|version| text(&version["name"])).unwrap_or_default();
            let namespaced = definition["spec"]["scope"] == "Namespaced";
            let path = self.objects(version, if namespaced { "default" } else { "" });
            return self.send("DELETE", &path, &Value::Null).map(drop);
        }
        if !self.definition.is_null() {
            self.send("DELETE", &Http::path_of_definition(&self.definition), &Value::Null)?;
        }
        self.definition = Value::Null;
        self.send("POST", DEFINITIONS, definition)?;
        self.definition = definition.clone();
        Ok(())
    }

    fn redefine(&mut self, definition: &Value) -> Result<(), String> {
        let path = Http::path_of_definition(definition);
        let stored = self.send("GET", &path, &Value::Null)?;
        let mut next = definition.clone();
        next["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
        self.send("PUT", &path, &next)?;
        self.definition = definition.clone();
        Ok(())
    }

    fn create(&mut self, object: &Object) -> Result<Object, String> {
        let version = object.api_version().rsplit('/').next().unwrap_or_default();
        self.send("POST", &self.objects(version, object.namespace()), object.value()).map(Object::from)
    }

    fn update(&mut self, object: &Object, live: &Object) -> Result<Object, String> {
        self.replace(object, live, "")
    }

    fn update_status(&mut self, object: &Object, live: &Object) -> Result<Object, String> {
        self.replace(object, live, "/status")
    }
}
