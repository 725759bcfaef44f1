package dev.idempotent.saga.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.testing.Ports;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RestartedApplication;
import dev.idempotent.testing.Tally;
import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * Two instances of the orchestrator and two of the participant, with a lossy network
 * between them.
 */
final class SagaSite implements AutoCloseable {

	static final String NAMESPACE = "test";

	private static final Duration PATIENCE = Duration.ofMinutes(10);

	private final LossyProxy proxy;

	private final List<RestartedApplication> orchestrators;

	private final List<RestartedApplication> participants;

	SagaSite(RealPostgres postgres, RealRedis redis, Tally tally) {
		Path folder = emptied(Path.of("target", "saga-crash"));
		this.proxy = new LossyProxy(() -> any(participants()).uri("/"), tally);
		List<String> shared = new ArrayList<>(List.of("--server.address=127.0.0.1",
				"--idempotent.namespace=" + NAMESPACE, "--spring.main.banner-mode=off", "--logging.level.root=warn",
				"--logging.exception-conversion-word=%wEx{short}", "--server.tomcat.threads.min-spare=2",
				"--spring.datasource.hikari.maximum-pool-size=10", "--spring.datasource.hikari.minimum-idle=1",
				"--spring.datasource.hikari.connection-timeout=2000",
				"--spring.datasource.hikari.validation-timeout=1000", "--idempotent.lease=2s",
				"--idempotent.jdbc.lock-timeout=500ms", "--idempotent.saga.lease=1500ms",
				"--idempotent.saga.attempts=1000000", "--idempotent.saga.wait-timeout=3s",
				"--crash.timeout=" + System.getProperty("saga.crash.timeout", "10s"),
				"--crash.participant=" + this.proxy.url()));
		postgres.properties().forEach((property) -> shared.add("--" + property));
		redis.properties().forEach((property) -> shared.add("--" + property));
		this.participants = start("participant", ParticipantApplication.class, shared, folder, tally);
		this.orchestrators = start("orchestrator", OrchestratorApplication.class, shared, folder, tally);
	}

	private static Path emptied(Path folder) {
		try {
			FileSystemUtils.deleteRecursively(folder);
			return Files.createDirectories(folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<RestartedApplication> start(String name, Class<?> application, List<String> arguments,
			Path folder, Tally tally) {
		return IntStream.rangeClosed(1, 2)
			.mapToObj((number) -> new RestartedApplication(name + "-" + number, application, Ports.free(), arguments,
					folder, tally))
			.toList();
	}

	void awaitReady() {
		await("all instances").atMost(PATIENCE)
			.until(() -> instances().stream().allMatch(RestartedApplication::isReady));
	}

	LossyProxy proxy() {
		return this.proxy;
	}

	List<RestartedApplication> orchestrators() {
		return this.orchestrators;
	}

	List<RestartedApplication> participants() {
		return this.participants;
	}

	List<RestartedApplication> instances() {
		return Stream.concat(this.orchestrators.stream(), this.participants.stream()).toList();
	}

	static <T> T any(List<T> values) {
		return values.get(ThreadLocalRandom.current().nextInt(values.size()));
	}

	@Override
	public void close() {
		instances().forEach(RestartedApplication::close);
		this.proxy.close();
	}

}
