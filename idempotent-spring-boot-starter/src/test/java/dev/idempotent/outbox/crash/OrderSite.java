package dev.idempotent.outbox.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import dev.idempotent.outbox.crash.AbstractOrderCrashRunTests.CrashSettings;
import dev.idempotent.testing.RestartedApplication;
import dev.idempotent.testing.Tally;
import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * Three instances.
 */
final class OrderSite implements AutoCloseable {

	private static final int INSTANCES = 3;

	private static final Duration PATIENCE = Duration.ofMinutes(5);

	private final List<RestartedApplication> instances;

	private final Path end;

	OrderSite(Class<?> application, Path folder, CrashSettings settings, List<String> properties, Tally tally) {
		empty(folder);
		this.end = folder.resolve("end").toAbsolutePath();
		List<String> arguments = new ArrayList<>(List.of("--spring.main.web-application-type=none",
				"--spring.main.banner-mode=off", "--idempotent.namespace=crash", "--logging.level.root=warn",
				"--logging.exception-conversion-word=%wEx{short}", "--spring.datasource.hikari.maximum-pool-size=12",
				"--spring.datasource.hikari.minimum-idle=2", "--spring.datasource.hikari.connection-timeout=2000",
				"--spring.datasource.hikari.validation-timeout=1000", "--idempotent.outbox.relay.attempts=1000000",
				"--idempotent.outbox.relay.backoff=200ms", "--idempotent.outbox.relay.max-backoff=1s",
				"--idempotent.outbox.redis.timeout=1s", "--spring.data.redis.timeout=1s",
				"--idempotent.outbox.handlers.attempts=1000000", "--idempotent.outbox.handlers.max-backoff=1s",
				"--idempotent.outbox.handlers.concurrency=3", "--idempotent.outbox.handlers.lease=3s",
				"--crash.seed=" + settings.seed(), "--crash.fault=" + settings.fault(), "--crash.end=" + this.end));
		properties.forEach((property) -> arguments.add("--" + property));
		this.instances = IntStream.rangeClosed(1, INSTANCES)
			.mapToObj((number) -> new RestartedApplication("instance-" + number, application, 0, arguments, folder,
					tally))
			.toList();
	}

	private static void empty(Path folder) {
		try {
			FileSystemUtils.deleteRecursively(folder);
			Files.createDirectories(folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	List<RestartedApplication> instances() {
		return this.instances;
	}

	void awaitReady() {
		await("all instances").atMost(PATIENCE)
			.until(() -> this.instances.stream().allMatch(RestartedApplication::isReady));
	}

	/**
	 * Ends the faults within the instances, and waits until all are running and their
	 * last transactions have ended.
	 */
	void calm() {
		try {
			Files.createFile(this.end);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		awaitReady();
		await("the end of all transactions").atMost(PATIENCE)
			.until(() -> this.instances.stream().allMatch(RestartedApplication::isIdle));
	}

	@Override
	public void close() {
		this.instances.forEach(RestartedApplication::close);
	}

}
