package dev.idempotent.benchmark.saga;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.benchmark.Application;
import dev.idempotent.benchmark.Database;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * An application of a contender with its own database, in which steps insert rows.
 */
final class Store implements AutoCloseable {

	static final String INSERT = "insert into work (name, amount) values (?, ?)";

	private final String name;

	private final Servers servers;

	private final Database database;

	private final Application application;

	private Store(String name, Servers servers, Database database, Application application) {
		this.name = name;
		this.servers = servers;
		this.database = database;
		this.application = application;
	}

	static Store open(String name, Servers servers, Class<?> source, String... properties) {
		Database database = Database.create(servers.postgres(), "sagas_" + name);
		database.sql().execute("create table work (id bigserial primary key, name text not null, amount int not null)");
		return new Store(name, servers, database,
				Application.start(source, properties(name, database, servers, properties)));
	}

	private static List<String> properties(String name, Database database, Servers servers, String... properties) {
		List<String> all = new ArrayList<>(database.properties());
		all.addAll(servers.redis().properties());
		all.addAll(List.of("idempotent.namespace=" + name, "namastack.outbox.enabled=false",
				"spring.datasource.hikari.maximum-pool-size=" + servers.poolSize()));
		all.addAll(List.of(properties));
		return all;
	}

	/**
	 * Starts another application on the same database.
	 */
	Application another(Class<?> source, String... more) {
		return Application.start(source, properties(this.name, this.database, this.servers, more));
	}

	Application application() {
		return this.application;
	}

	Database database() {
		return this.database;
	}

	JdbcTemplate jdbc() {
		return this.application.bean(JdbcTemplate.class);
	}

	<T> T bean(Class<T> type) {
		return this.application.bean(type);
	}

	@Override
	public void close() {
		this.application.close();
	}

	/**
	 * What all contenders share.
	 *
	 * @param postgres keeps a database for each
	 * @param redis started for the applications, and not used
	 * @param poolSize how many connections each may have
	 */
	record Servers(RealPostgres postgres, RealRedis redis, int poolSize) {
	}

}
