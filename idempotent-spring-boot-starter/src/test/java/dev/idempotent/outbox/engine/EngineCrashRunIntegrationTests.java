package dev.idempotent.outbox.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RestartedApplication;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.Tally;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.stream.ByteRecord;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three instances that are killed and stopped, a PostgreSQL that is killed, and a Redis
 * that is killed and disturbed. The system properties {@code engine.duration},
 * {@code engine.fault}, {@code engine.run}, {@code engine.colliding}, {@code engine.calm}
 * and {@code engine.seed} vary it.
 */
@Tag("long")
class EngineCrashRunIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=on");

	@RegisterExtension
	static final RealRedis redis = RealRedis.persistent();

	@RegisterExtension
	static final StallingProxy network = StallingProxy.before(redis);

	private final Tally tally = new Tally();

	private final CountDownLatch over = new CountDownLatch(1);

	private final PlantedFault fault = PlantedFault.valueOf(System.getProperty("engine.fault", "NONE"));

	private final long seed = Long.getLong("engine.seed", System.nanoTime() % 1_000_000);

	@Test
	void deliversWhatCommitsInOrder() throws Exception {
		JdbcClient database = JdbcClient.create(postgres.connect());
		createTables(database);
		Path folder = Path.of("target", "engine-crash");
		FileSystemUtils.deleteRecursively(folder);
		Files.createDirectories(folder);
		Path end = folder.resolve("end").toAbsolutePath();
		List<RestartedApplication> nodes = IntStream.range(0, 3)
			.mapToObj((i) -> new RestartedApplication("node-" + i, EngineNode.class, 0, arguments(end), folder,
					this.tally))
			.toList();
		try {
			await().atMost(Duration.ofMinutes(1)).until(() -> nodes.stream().allMatch(RestartedApplication::isReady));
			List<Thread> faults = List.of(new Thread(() -> strikeNodes(nodes)), new Thread(this::strikeDatabase),
					new Thread(this::strikeBroker));
			if (!Boolean.getBoolean("engine.calm")) {
				faults.forEach(Thread::start);
			}
			Thread.sleep(duration().toMillis());
			this.over.countDown();
			for (Thread thread : faults) {
				thread.join();
			}
			Files.createFile(end);
			await().atMost(Duration.ofMinutes(1)).until(() -> nodes.stream().allMatch(RestartedApplication::isIdle));
			if (this.fault == PlantedFault.NONE) {
				await().atMost(Duration.ofMinutes(1)).until(() -> left(database) == 0);
			}
			else {
				// A fault can keep events from being delivered at all.
				Thread.sleep(5_000);
			}
		}
		finally {
			nodes.forEach(RestartedApplication::close);
		}
		Map<String, Integer> found = audit(recorded(database), published());
		System.out.printf("ENGINE RUN %s, colliding %s, run %s, seed %d: %s%n  %s%n", this.fault,
				System.getProperty("engine.colliding", "false"), System.getProperty("engine.run", "100"), this.seed,
				found, this.tally.list(""));
		if (this.fault == PlantedFault.NONE) {
			assertThat(found).doesNotContainKeys("lost", "of a rollback", "out of order");
		}
	}

	private void createTables(JdbcClient database) {
		database.sql(Dialect.POSTGRESQL.schema()).update();
		if (this.fault == PlantedFault.CACHED_SEQUENCE) {
			database.sql("alter table outbox_event alter column id set cache 32").update();
		}
		database.sql("create table crash_event (payload varchar(255) primary key)").update();
		database.sql("create table crash_counter (id varchar(20) primary key, number integer not null)").update();
		for (int key = 0; key < EngineNode.KEYS; key++) {
			database.sql("insert into crash_counter values (?, 0)").param("key-" + key).update();
		}
	}

	private List<String> arguments(Path end) {
		return List.of("--spring.main.web-application-type=none", "--spring.main.banner-mode=off",
				"--logging.level.root=warn", "--logging.exception-conversion-word=%wEx{short}",
				"--node.dialect=POSTGRESQL", "--node.fault=" + this.fault,
				"--node.colliding=" + Boolean.getBoolean("engine.colliding"),
				"--node.run=" + Integer.getInteger("engine.run", 100), "--node.end=" + end,
				"--node.url=" + postgres.url() + "?socketTimeout=5&connectTimeout=2",
				"--node.user=" + RealPostgres.USER, "--node.password=" + RealPostgres.PASSWORD,
				"--node.redis-host=" + network.host(), "--node.redis-port=" + network.port());
	}

	private static Duration duration() {
		return DurationStyle.detectAndParse(System.getProperty("engine.duration", "8s"));
	}

	private void strikeNodes(List<RestartedApplication> nodes) {
		Random random = new Random(this.seed);
		while (lasts(random, 500, 3_000)) {
			RestartedApplication victim = nodes.get(random.nextInt(nodes.size()));
			if (!victim.isReady()) {
				continue;
			}
			if (random.nextInt(10) < 6) {
				victim.kill();
			}
			else {
				this.tally.count("stop");
				victim.signal("STOP");
				lasts(random, 500, 2 * (int) EngineNode.LEASE.toMillis());
				victim.signal("CONT");
			}
		}
	}

	private void strikeDatabase() {
		Random random = new Random(this.seed + 1);
		while (lasts(random, 2_000, 8_000)) {
			this.tally.count("PostgreSQL crash");
			postgres.kill();
			postgres.start();
		}
	}

	private void strikeBroker() {
		Random random = new Random(this.seed + 2);
		while (lasts(random, 500, 4_000)) {
			switch (random.nextInt(4)) {
				case 0 -> {
					this.tally.count("Redis crash");
					redis.kill();
					redis.start();
				}
				case 1 -> {
					this.tally.count("Redis reset");
					network.reset();
				}
				case 2 -> {
					this.tally.count("Redis lost reply");
					network.dropNextReply();
				}
				default -> {
					this.tally.count("Redis stall");
					network.hold();
					lasts(random, 200, 2_000);
					network.resume();
				}
			}
		}
	}

	private boolean lasts(Random random, int least, int most) {
		try {
			return !this.over.await(least + random.nextInt(most - least), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private static int left(JdbcClient database) {
		return database.sql("select count(*) from outbox_event").query(Integer.class).single();
	}

	private static Set<String> recorded(JdbcClient database) {
		return new HashSet<>(database.sql("select payload from crash_event").query(String.class).list());
	}

	private static List<String> published() {
		List<String> events = new ArrayList<>();
		try (RedisConnection connection = redis.connect().getConnection()) {
			Range<String> range = Range.unbounded();
			List<ByteRecord> page;
			do {
				page = connection.streamCommands()
					.xRange(RedisRuns.STREAM.getBytes(StandardCharsets.UTF_8), range, Limit.limit().count(10_000));
				for (ByteRecord entry : page) {
					entry.getValue().values().forEach((value) -> events.add(new String(value, StandardCharsets.UTF_8)));
				}
				if (!page.isEmpty()) {
					range = Range.rightUnbounded(Range.Bound.exclusive(page.get(page.size() - 1).getId().getValue()));
				}
			}
			while (page.size() == 10_000);
		}
		return events;
	}

	/**
	 * Compares the first publications with what was committed.
	 */
	static Map<String, Integer> audit(Set<String> recorded, List<String> published) {
		Map<String, Integer> found = new TreeMap<>(Map.of("committed", recorded.size()));
		Set<String> seen = new HashSet<>();
		Map<String, Integer> highest = new HashMap<>();
		for (String event : published) {
			if (!seen.add(event)) {
				found.merge("duplicates", 1, Integer::sum);
				continue;
			}
			if (!recorded.contains(event)) {
				found.merge("of a rollback", 1, Integer::sum);
				continue;
			}
			String[] parts = event.split(" ", 3);
			int number = Integer.parseInt(parts[2]);
			if (number > 0 && number < highest.merge(parts[1], number, Math::max)) {
				found.merge("out of order", 1, Integer::sum);
			}
		}
		int lost = (int) recorded.stream().filter((event) -> !seen.contains(event)).count();
		if (lost > 0) {
			found.put("lost", lost);
		}
		return found;
	}

}
