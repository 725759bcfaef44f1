package dev.idempotent.testing.kafka;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.idempotent.testing.Ports;
import kafka.Kafka;
import org.apache.kafka.metadata.storage.Formatter;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.springframework.util.Assert;

/**
 * A broker and controller in a JVM of its own, which keeps its ports and its data. It
 * does not outlive this JVM.
 */
public final class KafkaServer {

	private final int id;

	private final int port = Ports.free();

	private final int controllerPort = Ports.free();

	private final Path folder;

	private @Nullable Process process;

	KafkaServer(int id, Path folder) {
		this.id = id;
		this.folder = folder;
	}

	public int id() {
		return this.id;
	}

	String address() {
		return "127.0.0.1:" + this.port;
	}

	String voter() {
		return this.id + "@127.0.0.1:" + this.controllerPort;
	}

	/**
	 * Writes its settings and formats its storage.
	 */
	void install(String clusterId, String voters, Map<String, String> settings) throws Exception {
		Path data = Files.createDirectories(this.folder.resolve("data"));
		Properties properties = new Properties();
		properties.putAll(settings);
		properties.putAll(Map.of("node.id", Integer.toString(this.id), "process.roles", "broker,controller",
				"controller.quorum.voters", voters, "controller.listener.names", "CONTROLLER", "listeners",
				"PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d".formatted(address(), this.controllerPort),
				"advertised.listeners", "PLAINTEXT://" + address(), "listener.security.protocol.map",
				"PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT", "log.dirs", data.toString()));
		try (var writer = Files.newBufferedWriter(settingsFile())) {
			properties.store(writer, null);
		}
		new Formatter().setPrintStream(new PrintStream(OutputStream.nullOutputStream()))
			.setNodeId(this.id)
			.setClusterId(clusterId)
			.setDirectories(List.of(data.toString()))
			.setMetadataLogDirectory(data.toString())
			.setControllerListenerName("CONTROLLER")
			.run();
	}

	/**
	 * Starts the process, and does not wait until it serves.
	 */
	public void start() {
		Assert.state(this.process == null || !this.process.isAlive(), "The server is running");
		String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
		try {
			this.process = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx256m",
					"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath, Main.class.getName(),
					settingsFile().toString())
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(this.folder.resolve("server.log").toFile()))
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Ends the process as {@code kill -9} does.
	 */
	public void kill() {
		if (this.process != null) {
			this.process.destroyForcibly().onExit().join();
		}
	}

	/**
	 * Lets the process shut down in order.
	 */
	public void stop() {
		if (this.process != null) {
			this.process.destroy();
			this.process.onExit().join();
		}
	}

	/**
	 * Stops the process in time, with its connections open.
	 */
	public void pause() {
		signal("STOP");
	}

	public void resume() {
		signal("CONT");
	}

	public boolean isRunning() {
		return this.process != null && this.process.isAlive();
	}

	private void signal(String name) {
		Assert.state(this.process != null, "The server was not started");
		try {
			new ProcessBuilder("kill", "-" + name, Long.toString(this.process.pid())).inheritIO().start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private Path settingsFile() {
		return this.folder.resolve("server.properties");
	}

	/**
	 * Runs Kafka's server until the process that started it has ended.
	 */
	static final class Main {

		private Main() {
		}

		/**
		 * Starts the server.
		 * @param arguments the file with its settings
		 */
		public static void main(String[] arguments) {
			((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
			Thread end = new Thread(Main::endWithParent, "parent");
			end.setDaemon(true);
			end.start();
			Kafka.main(arguments);
		}

		private static void endWithParent() {
			try {
				while (System.in.read() >= 0) {
					// Its end is the end of the parent.
				}
			}
			catch (IOException ex) {
				// So is this.
			}
			Runtime.getRuntime().halt(0);
		}

	}

}
