package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

import dev.idempotent.testing.CopiedPostgres;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A database that has lost commits, with a Redis that has their responses: the work is
 * done again, once.
 */
class ReplacedDatabaseIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final String kept = "kept-" + UUID.randomUUID();

	private final String lost = "lost-" + UUID.randomUUID();

	@Tag("long")
	@Test
	void runsAgainWhatAFailoverHasLost() throws SQLException {
		try (CopiedPostgres primary = CopiedPostgres.start();
				CopiedPostgres standby = primary.startStandby(primary.backup());
				WebApplication application = start(eitherOf(primary, standby));
				WebApplication caching = start(eitherOf(primary, standby), "idempotent.replay-cache.max-size=1MB")) {
			assertThat(isReplay(post(application, this.kept))).isFalse();
			await().ignoreExceptions().untilAsserted(() -> assertThat(works(standby, this.kept)).isOne());
			execute(standby, "alter system set primary_conninfo = ''", "select pg_reload_conf()");
			await().until(() -> number(standby, "select count(*) from pg_stat_wal_receiver") == 0);
			assertThat(isReplay(post(application, this.lost))).isFalse();
			assertThat(isReplay(post(caching, this.lost))).isTrue();

			primary.kill();
			execute(standby, "select pg_promote()");

			assertRunsAgain(caching, standby);
			assertReplays(application, standby);
		}
	}

	@Tag("long")
	@Test
	void runsAgainWhatARestoreHasLost() throws SQLException {
		try (CopiedPostgres database = CopiedPostgres.start(); WebApplication application = start(database.url())) {
			assertThat(isReplay(post(application, this.kept))).isFalse();
			database.crash();
			assertThat(isReplay(answered(application, this.kept))).isTrue();
			Path backup = database.backup();
			assertThat(isReplay(answered(application, this.kept))).isTrue();
			assertThat(isReplay(post(application, this.lost))).isFalse();
			assertThat(isReplay(post(application, this.lost))).isTrue();

			try (CopiedPostgres staging = CopiedPostgres.startOn(backup); WebApplication clone = start(staging.url())) {
				assertThat(isReplay(post(clone, this.kept))).isTrue();
				assertThat(isReplay(post(clone, this.lost))).isFalse();
				assertThat(works(staging, this.lost)).isOne();
			}
			assertThat(isReplay(post(application, this.lost))).isTrue();
			assertThat(works(database, this.lost)).isOne();

			database.restore(backup);

			assertRunsAgain(application, database);
		}
	}

	@Tag("long")
	@Test
	void runsAgainWhatTheCopyOfADatabaseOnItsServerLacks() throws SQLException {
		try (CopiedPostgres server = CopiedPostgres.start()) {
			try (WebApplication application = start(server.url())) {
				assertThat(isReplay(post(application, this.kept))).isFalse();
			}
			execute(server, "create database work_copy template postgres");
			try (WebApplication application = start(server.url());
					WebApplication clone = start(server.url().replace("/postgres", "/work_copy"))) {
				assertThat(isReplay(post(application, this.lost))).isFalse();
				assertThat(isReplay(post(application, this.lost))).isTrue();
				assertThat(isReplay(post(clone, this.kept))).isTrue();
				assertThat(isReplay(post(clone, this.lost))).isFalse();
			}
		}
	}

	/**
	 * As {@code pg_restore --clean} does.
	 */
	@Test
	void runsAgainWhatTheDumpOfARunningServerLacks() throws SQLException {
		try (CopiedPostgres database = CopiedPostgres.start(); WebApplication application = start(database.url())) {
			assertThat(isReplay(post(application, this.kept))).isFalse();
			execute(database, "create table record_dump as table idempotency_record",
					"create table work_dump as table work");
			assertThat(isReplay(post(application, this.lost))).isFalse();
			assertThat(isReplay(post(application, this.lost))).isTrue();

			execute(database, "begin", "alter table idempotency_record rename to replaced",
					"create table idempotency_record (like replaced including all)", "drop table replaced",
					"insert into idempotency_record table record_dump", "truncate work",
					"insert into work table work_dump", "commit");
			assertThat(isReplay(post(application, "other-" + this.kept))).isFalse();

			assertThat(isReplay(post(application, this.lost))).isFalse();
			assertReplays(application, database);
		}
	}

	/**
	 * Until it has heard of the new database, a process replays what the old one had.
	 */
	private void assertRunsAgain(WebApplication application, CopiedPostgres database) throws SQLException {
		await().until(() -> {
			HttpResponse<byte[]> response = post(application, this.lost);
			return response.statusCode() == 201 && !isReplay(response);
		});
		assertThat(works(database, this.lost)).isOne();
		assertReplays(application, database);
	}

	private void assertReplays(WebApplication application, CopiedPostgres database) throws SQLException {
		assertThat(isReplay(answered(application, this.lost))).isTrue();
		assertThat(isReplay(answered(application, this.kept))).isTrue();
		assertThat(works(database, this.lost)).isOne();
		assertThat(works(database, this.kept)).isOne();
	}

	/**
	 * The pool is full of dead connections after a restart.
	 */
	private static HttpResponse<byte[]> answered(WebApplication application, String name) {
		return await().until(() -> post(application, name), (response) -> response.statusCode() == 201);
	}

	private static HttpResponse<byte[]> post(WebApplication application, String name) {
		return application.post("/jobs/created?name=" + name, "{}", "Idempotency-Key", name);
	}

	private static boolean isReplay(HttpResponse<byte[]> response) {
		assertThat(response.statusCode()).isEqualTo(201);
		return response.headers().firstValue("Idempotent-Replayed").isPresent();
	}

	private static String eitherOf(CopiedPostgres primary, CopiedPostgres standby) {
		return "jdbc:postgresql://" + primary.address() + "," + standby.address()
				+ "/postgres?targetServerType=primary&hostRecheckSeconds=0";
	}

	private static WebApplication start(String url, String... properties) {
		String[] all = new String[properties.length + 6];
		all[0] = WebApplication.WITH_DATABASE;
		all[1] = "spring.datasource.url=" + url;
		all[2] = "spring.datasource.username=" + RealPostgres.USER;
		all[3] = "spring.datasource.password=" + RealPostgres.PASSWORD;
		all[4] = "spring.datasource.hikari.connection-timeout=10000";
		all[5] = "idempotent.jdbc.initialize-schema=always";
		System.arraycopy(properties, 0, all, 6, properties.length);
		return WebApplication.start(TransactionApplication.class, redis, all);
	}

	private static int works(CopiedPostgres database, String name) throws SQLException {
		return number(database, "select count(*) from work where name = '" + name + "'");
	}

	private static int number(CopiedPostgres database, String query) throws SQLException {
		try (Connection connection = connect(database);
				ResultSet rows = connection.createStatement().executeQuery(query)) {
			rows.next();
			return rows.getInt(1);
		}
	}

	private static void execute(CopiedPostgres database, String... statements) throws SQLException {
		try (Connection connection = connect(database); Statement statement = connection.createStatement()) {
			for (String sql : statements) {
				statement.execute(sql);
			}
		}
	}

	private static Connection connect(CopiedPostgres database) throws SQLException {
		return DriverManager.getConnection(database.url(), RealPostgres.USER, RealPostgres.PASSWORD);
	}

}
