package dev.idempotent.sample.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.util.FileSystemUtils;

/**
 * An empty Kafka in this JVM, on a free port of the loopback address: one broker that is
 * its own controller. Stops with the application.
 */
final class KafkaServer implements KafkaConnectionDetails, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(KafkaServer.class);

	private static final String ACTION = "Set spring.kafka.bootstrap-servers to a running Kafka, or start without the "
			+ "profile kafka.";

	private final KafkaRaftServer server;

	private final int port;

	private final Path folder;

	private KafkaServer(KafkaRaftServer server, int port, Path folder) {
		this.server = server;
		this.port = port;
		this.folder = folder;
	}

	/**
	 * Starts a server and waits until it is ready.
	 * @throws EmbeddedServerException if it does not start
	 */
	static KafkaServer start() {
		try {
			Path folder = Files.createTempDirectory("kafka");
			int port = freePort();
			Properties properties = new Properties();
			properties.putAll(settings(port, freePort(), folder));
			new Formatter().setPrintStream(new PrintStream(OutputStream.nullOutputStream()))
				.setNodeId(1)
				.setClusterId(Uuid.randomUuid().toString())
				.setDirectories(List.of(folder.toString()))
				.setMetadataLogDirectory(folder.toString())
				.setControllerListenerName("CONTROLLER")
				.run();
			KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(properties), Time.SYSTEM);
			server.startup();
			logger.info("Kafka runs on 127.0.0.1:{}. Another instance shares it with --spring.profiles.active=kafka "
					+ "--spring.kafka.bootstrap-servers=127.0.0.1:{}", port, port);
			return new KafkaServer(server, port, folder);
		}
		catch (Exception ex) {
			throw new EmbeddedServerException("The embedded Kafka could not be started: " + ex.getMessage(), ACTION,
					ex);
		}
	}

	private static Map<String, String> settings(int port, int controllerPort, Path folder) {
		return Map.ofEntries(Map.entry("node.id", "1"), Map.entry("process.roles", "broker,controller"),
				Map.entry("controller.quorum.voters", "1@127.0.0.1:" + controllerPort),
				Map.entry("controller.listener.names", "CONTROLLER"),
				Map.entry("listeners",
						"PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port, controllerPort)),
				Map.entry("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
				Map.entry("log.dirs", folder.toString()), Map.entry("log.cleaner.dedupe.buffer.size", "2097152"),
				Map.entry("offsets.topic.num.partitions", "1"), Map.entry("offsets.topic.replication.factor", "1"),
				Map.entry("group.initial.rebalance.delay.ms", "0"));
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
	}

	@Override
	public List<String> getBootstrapServers() {
		return List.of("127.0.0.1:" + this.port);
	}

	@Override
	public void close() throws IOException {
		this.server.shutdown();
		this.server.awaitShutdown();
		FileSystemUtils.deleteRecursively(this.folder);
	}

}
