package dev.idempotent.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A Boot application in a JVM of its own, which can be given little memory.
 */
public final class ForkedApplication implements AutoCloseable {

	private final Process process;

	private final String port;

	private ForkedApplication(Process process, String port) {
		this.process = process;
		this.port = port;
	}

	/**
	 * Starts a JVM that ends at its first {@link OutOfMemoryError}.
	 * @param source the configuration of the application
	 * @param redis the Redis that it uses
	 * @param heap the most that its heap may take, such as {@code 256m}
	 * @param properties further properties, as {@code name=value}
	 */
	public static ForkedApplication start(Class<?> source, RealRedis redis, String heap, String... properties)
			throws IOException {
		List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx" + heap,
				"-XX:+ExitOnOutOfMemoryError", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
				ForkedApplication.class.getName(), source.getName(), "--server.port=0", "--server.address=127.0.0.1",
				"--idempotent.namespace=test", "--spring.main.banner-mode=off", "--logging.level.root=off",
				"--idempotent.redis.timeout=10s", "--spring.data.redis.host=" + redis.host(),
				"--spring.data.redis.port=" + redis.port()));
		Arrays.stream(properties).forEach((property) -> command.add("--" + property));
		Process process = new ProcessBuilder(command).start();
		BufferedReader output = new BufferedReader(
				new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
		return new ForkedApplication(process, output.readLine());
	}

	/**
	 * Runs the application in the JVM that was started for it.
	 */
	public static void main(String[] arguments) throws ClassNotFoundException {
		SpringApplication application = new SpringApplication(Class.forName(arguments[0]));
		application.setDefaultProperties(Map.of("test.with-database", "false"));
		ConfigurableApplicationContext context = application.run(arguments);
		System.out.println(context.getEnvironment().getRequiredProperty("local.server.port"));
	}

	public URI uri(String path) {
		return URI.create("http://127.0.0.1:" + this.port + path);
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	@Override
	public void close() {
		this.process.destroyForcibly().onExit().join();
	}

}
