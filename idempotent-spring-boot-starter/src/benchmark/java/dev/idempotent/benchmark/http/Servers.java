package dev.idempotent.benchmark.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Redis and PostgreSQL, which all applications share, and what they have used so far.
 */
final class Servers {

	private final RealRedis redis;

	private final RealPostgres postgres;

	private final RedisConnection connection;

	private final ServerProcess redisProcess;

	private final ServerProcess postgresProcess;

	Servers(RealRedis redis, RealPostgres postgres) {
		this.redis = redis;
		this.postgres = postgres;
		this.connection = redis.connect().getConnection();
		this.redisProcess = ServerProcess.find(Machine.redisId(redis), "redis");
		this.postgresProcess = ServerProcess.find(Machine.postgresId(postgres), "postgres");
	}

	/**
	 * Creates a database for one application.
	 */
	Database createDatabase(String contender) {
		Database database = Database.create(this.postgres, "http_" + contender.replace('-', '_'));
		database.sql().execute("create table placed (customer varchar(40), items int)");
		database.sql().execute("create table response_by_hand (id varchar(80) primary key, response text)");
		return database;
	}

	List<String> properties() {
		return new ArrayList<>(this.redis.properties());
	}

	void flushRedis() {
		this.redis.flush();
	}

	double redisMicros() {
		return this.redisProcess.micros();
	}

	double postgresMicros() {
		return this.postgresProcess.micros();
	}

	/**
	 * What Redis has counted since its start.
	 */
	Properties redisStatistics() {
		return Objects.requireNonNull(this.connection.serverCommands().info("stats"));
	}

}
