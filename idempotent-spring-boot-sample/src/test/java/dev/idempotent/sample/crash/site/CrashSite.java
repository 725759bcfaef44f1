package dev.idempotent.sample.crash.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.springframework.util.FileSystemUtils;

/**
 * A Redis, a PostgreSQL and several instances of the packaged shop, all of which can be
 * crashed and come back.
 */
public final class CrashSite implements AutoCloseable {

	/**
	 * How long a claim stays valid after its owner has ended.
	 */
	public static final Duration LEASE = Duration.ofSeconds(2);

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final List<String> SETTINGS = List.of("--idempotent.lease=" + LEASE.toSeconds() + "s",
			"--idempotent.outbox.relay.lease=3s", "--idempotent.outbox.redis.timeout=2s",
			"--idempotent.stream.min-idle-time=3s", "--spring.datasource.hikari.connection-timeout=2000",
			"--spring.datasource.hikari.validation-timeout=1000", "--spring.main.banner-mode=off",
			"--logging.level.root=warn", "--logging.level.dev.idempotent=info",
			"--logging.exception-conversion-word=%wEx{short}");

	private final Journal journal = new Journal();

	private final CrashableRedis redis;

	private final KillablePostgres postgres;

	private final List<ShopInstance> instances;

	private CrashSite(Path folder, Path jar, boolean sentinel, int instances, List<String> settings) {
		this.postgres = KillablePostgres.start(folder);
		this.redis = sentinel ? new SentinelRedis(folder) : new SingleRedis(folder);
		List<String> arguments = new ArrayList<>(SETTINGS);
		arguments.addAll(settings);
		arguments.addAll(this.redis.arguments());
		arguments.addAll(this.postgres.arguments());
		ShopBuild build = ShopBuild.unpack(jar, folder, arguments);
		// The tables exist, and a start should not need the database for them.
		arguments.addAll(List.of("--spring.sql.init.mode=never", "--idempotent.jdbc.initialize-schema=never",
				"--idempotent.outbox.initialize-schema=never"));
		this.instances = IntStream.rangeClosed(1, instances)
			.mapToObj((number) -> new ShopInstance("shop-" + number, build, arguments, folder, this.journal))
			.toList();
	}

	/**
	 * Starts everything and waits until it is ready.
	 * @param folder where data and logs go; emptied first
	 * @param jar the packaged shop
	 * @param sentinel whether a Sentinel watches a master and a replica
	 * @param instances how many shops there are
	 * @param settings further arguments of the shops
	 */
	public static CrashSite open(Path folder, Path jar, boolean sentinel, int instances, List<String> settings) {
		try {
			FileSystemUtils.deleteRecursively(folder);
			Files.createDirectories(folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		CrashSite site = new CrashSite(folder, jar, sentinel, instances, settings);
		site.awaitReady();
		return site;
	}

	public Journal journal() {
		return this.journal;
	}

	public CrashableRedis redis() {
		return this.redis;
	}

	public KillablePostgres postgres() {
		return this.postgres;
	}

	/**
	 * Opens a view of the stream of the shop's events.
	 */
	public OrderStream stream() {
		return new OrderStream(this.redis.port());
	}

	public List<ShopInstance> instances() {
		return this.instances;
	}

	/**
	 * Waits until everything is up.
	 */
	public void awaitReady() {
		this.redis.awaitReady();
		Awaitility.await("all instances")
			.atMost(PATIENCE)
			.until(() -> this.instances.stream().allMatch(ShopInstance::isReady));
	}

	@Override
	public void close() {
		this.instances.forEach(ShopInstance::close);
		this.redis.close();
		this.postgres.close();
	}

}
