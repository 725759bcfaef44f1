package dev.idempotent.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Tells how much of the machine's processors others take than this benchmark, its JVMs
 * and its servers. Reads {@code /proc}: on other systems, and with servers in containers,
 * it does not know.
 */
public final class Machine {

	private static final Path PROC = Path.of("/proc");

	/**
	 * User, nice, system and steal in the first line of {@code /proc/stat}. The time of
	 * interrupts is nobody's, and mostly due to the benchmark's own connections.
	 */
	private static final int[] BUSY = { 1, 2, 3, 8 };

	private static final int ALL = 8;

	private final Set<Long> roots = new HashSet<>(Set.of(ProcessHandle.current().pid()));

	private boolean known = Files.isReadable(PROC.resolve("stat"));

	/**
	 * A machine on which a database is part of the benchmark.
	 * @param postgres the database
	 * @return the machine
	 */
	public static Machine with(RealPostgres postgres) {
		Machine machine = new Machine();
		machine.add(postgresId(postgres), "postgres");
		return machine;
	}

	/**
	 * A machine on which Redis is part of the benchmark.
	 * @param redis the server
	 * @return the machine
	 */
	public static Machine with(RealRedis redis) {
		Machine machine = new Machine();
		machine.add(redisId(redis), "redis");
		return machine;
	}

	/**
	 * A machine on which both servers are part of the benchmark.
	 * @param postgres the database
	 * @param redis the other server
	 * @return the machine
	 */
	public static Machine with(RealPostgres postgres, RealRedis redis) {
		Machine machine = with(postgres);
		machine.add(redisId(redis), "redis");
		return machine;
	}

	/**
	 * The process of a server.
	 * @param postgres the server
	 * @return its id, perhaps in a container
	 */
	public static long postgresId(RealPostgres postgres) {
		List<String> file = new JdbcTemplate(
				new DriverManagerDataSource(postgres.url(), RealPostgres.USER, RealPostgres.PASSWORD))
			.queryForList("select pg_read_file('postmaster.pid')", String.class);
		return Long.parseLong(file.get(0).lines().findFirst().orElseThrow().strip());
	}

	/**
	 * The process of a server.
	 * @param redis the server
	 * @return its id, perhaps in a container
	 */
	public static long redisId(RealRedis redis) {
		try (RedisConnection connection = redis.connect().getConnection()) {
			Properties server = Objects.requireNonNull(connection.serverCommands().info("server"));
			return Long.parseLong(server.getProperty("process_id"));
		}
	}

	private void add(long id, String command) {
		Optional<ProcessHandle> process = ProcessHandle.of(id)
			.filter((handle) -> handle.info().command().orElse("").contains(command));
		process.ifPresentOrElse((handle) -> this.roots.add(handle.pid()), () -> this.known = false);
	}

	/**
	 * What has been used until now.
	 * @return to be compared with a later one
	 */
	Use now() {
		if (!this.known) {
			return new Use(0, 0, 0);
		}
		try {
			String[] all = Files.readAllLines(PROC.resolve("stat")).get(0).split(" +");
			long busy = 0;
			for (int field : BUSY) {
				busy += Long.parseLong(all[field]);
			}
			long total = 0;
			for (int field = 1; field <= ALL; field++) {
				total += Long.parseLong(all[field]);
			}
			return new Use(total, busy, own());
		}
		catch (IOException ex) {
			this.known = false;
			return new Use(0, 0, 0);
		}
	}

	private long own() throws IOException {
		Map<Long, Long> parents = new HashMap<>();
		Map<Long, Long> ticks = new HashMap<>();
		try (Stream<Path> processes = Files.list(PROC)) {
			for (Path process : processes.toList()) {
				if (Character.isDigit(process.getFileName().toString().charAt(0))) {
					read(process, parents, ticks);
				}
			}
		}
		return ticks.entrySet()
			.stream()
			.filter((entry) -> isOwn(entry.getKey(), parents))
			.mapToLong(Map.Entry::getValue)
			.sum();
	}

	private static void read(Path process, Map<Long, Long> parents, Map<Long, Long> ticks) {
		try {
			String line = Files.readString(process.resolve("stat"));
			String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
			long id = Long.parseLong(process.getFileName().toString());
			parents.put(id, Long.valueOf(fields[1]));
			// Its own time and the time of its children that have ended
			ticks.put(id, Stream.of(fields).skip(11).limit(4).mapToLong(Long::parseLong).sum());
		}
		catch (IOException ex) {
			// It has ended: its parent has its time
		}
	}

	private boolean isOwn(long id, Map<Long, Long> parents) {
		List<Long> line = new ArrayList<>();
		for (Long one = id; one != null && !line.contains(one); one = parents.get(one)) {
			if (this.roots.contains(one)) {
				return true;
			}
			line.add(one);
		}
		return false;
	}

	/**
	 * The processor time of the machine, in ticks.
	 *
	 * @param total since it was started
	 * @param busy of these with work
	 * @param own of these for this benchmark
	 */
	record Use(long total, long busy, long own) {

		/**
		 * Which share of the machine others took since then.
		 * @return from 0 to 1; not a number if that is not known
		 */
		double othersSince(Use before) {
			double elapsed = this.total - before.total;
			return (elapsed > 0) ? Math.max(0, (this.busy - before.busy - (this.own - before.own)) / elapsed)
					: Double.NaN;
		}

	}

}
