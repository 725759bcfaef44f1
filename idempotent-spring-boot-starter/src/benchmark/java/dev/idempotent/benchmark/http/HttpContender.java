package dev.idempotent.benchmark.http;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.http.load.LoadResult;
import dev.idempotent.benchmark.http.load.Traffic;
import org.springframework.util.Assert;

/**
 * An application in a JVM of its own, and the requests that it gets.
 */
final class HttpContender implements Contender {

	/**
	 * On a busy machine a request waits, as with Lettuce's default of a minute.
	 */
	private static final String PATIENCE = "idempotent.redis.timeout=60s";

	private final String name;

	private final Recipe recipe;

	private final Servers servers;

	private final Optional<Database> database;

	private final ChildJvm jvm;

	private final int port;

	HttpContender(String name, Recipe recipe, Servers servers, Jvms jvms) {
		this.name = name;
		this.recipe = recipe;
		this.servers = servers;
		this.database = recipe.parts().contains(Part.DATABASE) ? Optional.of(servers.createDatabase(name))
				: Optional.empty();
		this.jvm = jvms.application(name, recipe.parts(), arguments());
		this.port = Integer.parseInt(this.jvm.hear());
	}

	private List<String> arguments() {
		List<String> properties = new ArrayList<>(List.of("server.port=0", "server.address=127.0.0.1",
				"server.tomcat.max-keep-alive-requests=-1", "spring.main.banner-mode=off", "logging.level.root=warn",
				"idempotent.namespace=" + this.name, PATIENCE));
		properties.addAll(this.servers.properties());
		this.database.ifPresent((own) -> {
			properties.addAll(own.properties());
			properties.addAll(List.of("spring.datasource.hikari.maximum-pool-size=16",
					"idempotent.jdbc.initialize-schema=always"));
		});
		properties.addAll(this.recipe.properties());
		List<String> arguments = new ArrayList<>(List.of(this.recipe.source().getName()));
		properties.forEach((property) -> arguments.add("--" + property));
		return arguments;
	}

	@Override
	public String name() {
		return this.name;
	}

	/**
	 * Sends requests, and verifies that each ran its handler or none but the first did.
	 */
	Cost measure(HttpLoad load) {
		tidy();
		Usage before = usage();
		LoadResult result = load.send(this.port, this.recipe);
		Usage usage = usage().since(before);
		long runs = (this.recipe.traffic() == Traffic.FIRST) ? result.count() : 1;
		Assert.state(usage.receipts() == runs,
				() -> "%s: %d handlers ran instead of %d".formatted(this.name, usage.receipts(), runs));
		return new Cost(result, usage);
	}

	/**
	 * The processor time since the start, in microseconds.
	 */
	double processorMicros() {
		return this.jvm.processorMicros();
	}

	/**
	 * Begins a recording of the flight recorder that ends with the application.
	 */
	void record(Path file) {
		this.jvm.ask("record " + file);
	}

	private void tidy() {
		this.servers.flushRedis();
		this.database.ifPresent((own) -> {
			own.sql()
				.queryForList("select tablename from pg_tables where tablename in ('placed', 'response_by_hand',"
						+ " 'idempotency_record')", String.class)
				.forEach((table) -> own.sql().execute("truncate table " + table));
			own.tidy();
		});
	}

	private Usage usage() {
		String[] told = this.jvm.ask("usage").split(" ", -1);
		Properties redis = this.servers.redisStatistics();
		return new Usage(this.jvm.processorMicros(), this.servers.redisMicros(), this.servers.postgresMicros(),
				Long.parseLong(told[0]), Long.parseLong(told[1]),
				Long.parseLong(redis.getProperty("total_commands_processed")),
				Long.parseLong(redis.getProperty("total_reads_processed")));
	}

	@Override
	public void close() {
		this.jvm.close();
	}

}
