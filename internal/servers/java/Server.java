import com.google.protobuf.Any;
import com.google.protobuf.Message;
import io.envoyproxy.controlplane.cache.Resources;
import io.envoyproxy.controlplane.cache.v3.SimpleCache;
import io.envoyproxy.controlplane.cache.v3.Snapshot;
import io.envoyproxy.controlplane.server.V3DiscoveryServer;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterLoadAssignment;
import io.envoyproxy.envoy.config.listener.v3.Listener;
import io.envoyproxy.envoy.config.route.v3.RouteConfiguration;
import io.grpc.netty.NettyServerBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A SimpleCache of java-control-plane, over ADS and a stream for each type. It takes the lines of package servers, and
 * serves the same to all nodes.
 */
public final class Server {
  private final SimpleCache<String> cache = new SimpleCache<>(node -> "all");
  private final Map<String, Map<String, Message>> resources = new TreeMap<>(); // by type URL and name
  private int version;

  public static void main(String[] args) throws Exception {
    new Server().run();
  }

  private void run() throws Exception {
    V3DiscoveryServer xds = new V3DiscoveryServer(cache);
    io.grpc.Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .addService(xds.getAggregatedDiscoveryServiceImpl())
        .addService(xds.getClusterDiscoveryServiceImpl())
        .addService(xds.getEndpointDiscoveryServiceImpl())
        .addService(xds.getListenerDiscoveryServiceImpl())
        .addService(xds.getRouteDiscoveryServiceImpl())
        .build()
        .start();
    System.out.println("127.0.0.1:" + server.getPort());
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      take(line.split(" "));
      System.out.println("ok");
    }
    server.shutdownNow();
    System.exit(0);
  }

  private void take(String[] words) throws Exception {
    switch (words[0]) {
      case "set" -> {
        Any any = Any.parseFrom(Base64.getDecoder().decode(words[2]));
        Message message = any.unpack(Resources.RESOURCE_TYPE_BY_URL.get(any.getTypeUrl()));
        resources.computeIfAbsent(any.getTypeUrl(), url -> new TreeMap<>()).put(Resources.getResourceName(message), message);
      }
      case "delete" -> resources.getOrDefault(words[1], Map.of()).remove(words[2]);
      case "publish" -> cache.setSnapshot("all", snapshot());
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  private Snapshot snapshot() {
    version++;
    return Snapshot.create(
        all(Cluster.class, Resources.V3.CLUSTER_TYPE_URL),
        all(ClusterLoadAssignment.class, Resources.V3.ENDPOINT_TYPE_URL),
        all(Listener.class, Resources.V3.LISTENER_TYPE_URL),
        all(RouteConfiguration.class, Resources.V3.ROUTE_TYPE_URL),
        List.of(),
        Integer.toString(version));
  }

  private <T extends Message> List<T> all(Class<T> type, String url) {
    return resources.getOrDefault(url, Map.of()).values().stream().map(type::cast).toList();
  }
}
