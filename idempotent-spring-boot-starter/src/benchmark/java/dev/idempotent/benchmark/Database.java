package dev.idempotent.benchmark;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealPostgres;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A contender's own database on the server that all share.
 */
public final class Database {

	private final String url;

	private final String user;

	private final String password;

	private final JdbcTemplate sql;

	private Database(String url) {
		this(url, RealPostgres.USER, RealPostgres.PASSWORD);
	}

	private Database(String url, String user, String password) {
		this.url = url;
		this.user = user;
		this.password = password;
		this.sql = new JdbcTemplate(new DriverManagerDataSource(url, user, password));
	}

	/**
	 * Creates a database.
	 * @param server where
	 * @param name letters and underscores; not there yet
	 * @return the database, empty
	 */
	public static Database create(RealPostgres server, String name) {
		new Database(server.url()).sql().execute("create database " + name);
		return new Database("jdbc:postgresql://" + server.host() + ":" + server.port() + "/" + name);
	}

	/**
	 * Creates a database.
	 * @param server where
	 * @param name letters and underscores; not there yet
	 * @return the database, empty
	 */
	public static Database create(MariaDb server, String name) {
		new Database(server.url(), "root", "").sql().execute("create database " + name);
		return new Database(server.url() + name, "root", "");
	}

	/**
	 * Says what server it is and how durable: a benchmark of commits that are not flushed
	 * would flatter all.
	 * @param server which one
	 * @return its version and settings
	 */
	public static String describe(RealPostgres server) {
		return new Database(server.url()).sql()
			.queryForList("select name || '=' || current_setting(name) from unnest(array['server_version',"
					+ " 'fsync', 'synchronous_commit', 'shared_buffers']) as name", String.class)
			.toString();
	}

	/**
	 * The name of the database.
	 * @return as it was created
	 */
	public String name() {
		return this.url.substring(this.url.lastIndexOf('/') + 1);
	}

	/**
	 * Says what server it is and how durable.
	 * @param server which one
	 * @return its version and settings
	 */
	public static String describe(MariaDb server) {
		return new Database(server.url(), "root", "").sql()
			.queryForMap("select version() as version, @@innodb_flush_log_at_trx_commit as flush,"
					+ " @@innodb_buffer_pool_size as buffers")
			.toString();
	}

	/**
	 * What tells an application where the database is.
	 * @return {@code name=value}
	 */
	public List<String> properties() {
		return List.of("spring.datasource.url=" + this.url, "spring.datasource.username=" + this.user,
				"spring.datasource.password=" + this.password);
	}

	/**
	 * Runs statements beside the application, each on a connection of its own.
	 * @return the same at each call
	 */
	public JdbcTemplate sql() {
		return this.sql;
	}

	/**
	 * Whether this is PostgreSQL.
	 * @return {@code false} for MariaDB
	 */
	public boolean isPostgres() {
		return this.url.startsWith("jdbc:postgresql:");
	}

	/**
	 * Lets every measurement begin alike: no dead rows, fresh statistics, nothing left to
	 * write back. MariaDB is left as it is.
	 */
	public void tidy() {
		if (!isPostgres()) {
			return;
		}
		this.sql.execute("vacuum analyze");
		this.sql.execute("checkpoint");
	}

	/**
	 * How many rows have been inserted, updated and deleted in all tables but some.
	 * Closes the pool's connections first: a session reports its counts at the latest
	 * when it ends.
	 * @param pools through which the rows were written; not in use
	 * @param tables those that do not count
	 * @return since the database was created
	 */
	public long rowWritesBeside(Collection<HikariDataSource> pools, String... tables) {
		List<Integer> sessions = sessions();
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
			// Again and again: a pool may still be opening some
			pools.forEach((pool) -> pool.getHikariPoolMXBean().softEvictConnections());
			return sessions().stream().noneMatch(sessions::contains);
		});
		Long writes = this.sql.queryForObject(
				"select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)"
						+ " from pg_stat_user_tables where relname <> all (string_to_array(?, ','))",
				Long.class, String.join(",", tables));
		return (writes != null) ? writes : 0;
	}

	private List<Integer> sessions() {
		return this.sql.queryForList("select pid from pg_stat_activity where datname = current_database()"
				+ " and backend_type = 'client backend' and pid <> pg_backend_pid()", Integer.class);
	}

}
