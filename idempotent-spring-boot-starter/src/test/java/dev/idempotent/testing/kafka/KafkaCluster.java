package dev.idempotent.testing.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * One or more servers that form a cluster. Topics are not created by clients.
 */
public final class KafkaCluster implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	/**
	 * Small, and quick to notice that a server is gone.
	 */
	private static final Map<String, String> SETTINGS = Map.ofEntries(Map.entry("auto.create.topics.enable", "false"),
			Map.entry("broker.heartbeat.interval.ms", "500"), Map.entry("broker.session.timeout.ms", "3000"),
			Map.entry("offsets.topic.num.partitions", "1"), Map.entry("transaction.state.log.num.partitions", "1"),
			Map.entry("share.coordinator.state.topic.num.partitions", "1"),
			Map.entry("group.initial.rebalance.delay.ms", "0"), Map.entry("log.cleaner.dedupe.buffer.size", "2097152"),
			Map.entry("num.network.threads", "2"), Map.entry("num.io.threads", "2"),
			Map.entry("background.threads", "2"));

	private final Path folder;

	private final List<KafkaServer> servers = new ArrayList<>();

	private KafkaCluster(Path folder) {
		this.folder = folder;
	}

	/**
	 * Starts servers with the ids from 1, and waits until all of them serve.
	 */
	public static KafkaCluster start(int size) throws Exception {
		return start(size, Map.of());
	}

	/**
	 * Starts servers with further settings.
	 */
	public static KafkaCluster start(int size, Map<String, String> settings) throws Exception {
		KafkaCluster cluster = new KafkaCluster(Files.createTempDirectory("kafka"));
		for (int id = 1; id <= size; id++) {
			cluster.servers.add(new KafkaServer(id, Files.createDirectory(cluster.folder.resolve("server-" + id))));
		}
		String voters = cluster.servers.stream().map(KafkaServer::voter).collect(Collectors.joining(","));
		String clusterId = Uuid.randomUuid().toString();
		Map<String, String> all = new HashMap<>(SETTINGS);
		for (String internal : List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
			all.put(internal + ".replication.factor", Integer.toString(Math.min(3, size)));
		}
		all.put("transaction.state.log.min.isr", Integer.toString(Math.min(2, size)));
		all.put("share.coordinator.state.topic.min.isr", Integer.toString(Math.min(2, size)));
		all.putAll(settings);
		for (KafkaServer server : cluster.servers) {
			server.install(clusterId, voters, all);
			server.start();
		}
		cluster.awaitAll();
		return cluster;
	}

	/**
	 * What clients connect to.
	 */
	public String addresses() {
		return this.servers.stream().map(KafkaServer::address).collect(Collectors.joining(","));
	}

	/**
	 * Returns a server.
	 * @param id from 1
	 */
	public KafkaServer server(int id) {
		return this.servers.get(id - 1);
	}

	/**
	 * Waits until every server is a member of the cluster.
	 */
	public void awaitAll() {
		await().atMost(PATIENCE).ignoreExceptions().until(() -> {
			try (Admin admin = admin()) {
				return get(admin.describeCluster().nodes()).size() == this.servers.size();
			}
		});
	}

	/**
	 * Creates a topic, and waits until each partition has a leader.
	 */
	public void createTopic(NewTopic topic) throws Exception {
		try (Admin admin = admin()) {
			get(admin.createTopics(List.of(topic)).all());
		}
		await().atMost(PATIENCE).ignoreExceptions().until(() -> leader(topic.name(), 0) != null);
	}

	/**
	 * The id of the server that leads a partition.
	 * @return {@code null} if there is none
	 */
	public @Nullable Integer leader(String topic, int partition) throws Exception {
		try (Admin admin = admin()) {
			Node leader = get(admin.describeTopics(List.of(topic)).allTopicNames()).values()
				.iterator()
				.next()
				.partitions()
				.get(partition)
				.leader();
			return (leader == null || leader.isEmpty()) ? null : leader.id();
		}
	}

	private Admin admin() {
		return Admin.create(Map.of("bootstrap.servers", addresses(), "default.api.timeout.ms", "5000",
				"request.timeout.ms", "3000"));
	}

	private static <T> T get(KafkaFuture<T> future) throws ExecutionException, InterruptedException, TimeoutException {
		return future.get(60, TimeUnit.SECONDS);
	}

	@Override
	public void close() throws IOException {
		this.servers.forEach(KafkaServer::kill);
		FileSystemUtils.deleteRecursively(this.folder);
	}

}
