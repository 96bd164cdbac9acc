import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import io.javaoperatorsdk.jenvtest.KubeAPIServer;
import io.javaoperatorsdk.jenvtest.KubeAPIServerConfigBuilder;
import java.util.Map;

public class Example {
    static final String DEFINITION = """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata:
          name: widgets.example.com
        spec:
          group: example.com
          scope: Namespaced
          names: {plural: widgets, singular: widget, kind: Widget}
          versions:
          - name: v1
            served: true
            storage: true
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      size: {type: integer, maximum: 5}
        """;
    static final String UNTYPED = """
        apiVersion: example.com/v1
        kind: Widget
        metadata:
          name: untyped
          namespace: default
        spec:
          size: 2
        """;

    public static class WidgetSpec {
        public int size;
    }

    @Group("example.com")
    @Version("v1")
    public static class Widget extends CustomResource<WidgetSpec, Void> implements Namespaced {
        public static Widget of(String name, int size) {
            var widget = new Widget();
            widget.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace("default").build());
            widget.setSpec(new WidgetSpec());
            widget.getSpec().size = size;
            return widget;
        }
    }

    static KubernetesClient client(Config config) {
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    static long widgets(KubernetesClient client) {
        return client.resources(Widget.class).inNamespace("default").list().getItems().size();
    }

    public static void main(String[] arguments) {
        var server = new KubeAPIServer(KubeAPIServerConfigBuilder.anAPIServerConfig()
            .withApiServerVersion("1.37.0")
            .withOfflineMode(true)
            .withApiServerFlag("--kubeshape-extensions=true")
            .build());
        server.start();
        var config = Config.fromKubeconfig(server.getKubeConfigYaml());
        try (var client = client(config)) {
            // A definition, and its objects at once: typed, and as the server's discovery describes them.
            client.resource(DEFINITION).create();
            client.resource(Widget.of("typed", 1)).create();
            client.resource(UNTYPED).create();
            try {
                client.resource(Widget.of("large", 6)).create();
            } catch (KubernetesClientException refused) {
                System.out.println(refused.getStatus().getMessage());
            }
            // A world begins with what is there now, and changes on its own.
            var snapshot = client.raw("/kubeshape/snapshot", "POST", Map.of());
            var world = Serialization.unmarshal(client.raw("/kubeshape/worlds", "POST", snapshot), Map.class);
            try (var other = client(new ConfigBuilder(config).withMasterUrl((String) world.get("url")).build())) {
                other.resource(Widget.of("other", 3)).create();
                System.out.println(widgets(client) + " widgets, and " + widgets(other) + " in the world");
            }
            client.raw("/kubeshape/worlds/" + world.get("world"), "DELETE", null);
        } finally {
            server.stop();
        }
    }
}
