package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcIdempotencyStore} on a database with outages, and behind a network
 * that fails.
 */
@Timeout(180)
class JdbcIdempotencyStoreOutageIntegrationTests {

	private static final String TABLE = "outage_record";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final IdempotencyKey KEY = Samples.key();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	private static HikariDataSource pool;

	private static JdbcIdempotencyStore store;

	@BeforeAll
	static void connect() {
		RecordTable.create(postgres.connect(), "postgresql", TABLE);
		pool = impatientPool();
		store = new JdbcIdempotencyStore(new OwnTransactions(pool), TABLE);
	}

	@BeforeEach
	void askOnce() {
		awaitAnAnswer((asked) -> asked.release(KEY, "owner"));
	}

	@AfterEach
	void start() {
		postgres.start();
	}

	static Stream<Named<Consumer<IdempotencyStore>>> verbs() {
		return Stream.of(Named.of("claim", (asked) -> asked.claim(KEY, REQUEST, "owner", MINUTE)),
				Named.of("complete",
						(asked) -> asked.complete(KEY, REQUEST, "owner", Samples.response("response"), MINUTE)),
				Named.of("release", (asked) -> asked.release(KEY, "owner")),
				Named.of("renew", (asked) -> asked.renew(KEY, "owner", MINUTE)));
	}

	@ParameterizedTest
	@MethodSource("verbs")
	void reportsAStoppedDatabaseAsUnavailableAndRecovers(Consumer<IdempotencyStore> verb) {
		postgres.stop();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> verb.accept(store))
			.withMessageContaining(KEY.digest());
		postgres.start();
		awaitAnAnswer(verb);
	}

	@Test
	void keepsItsAnswersThroughAPowerFailure() {
		List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(50).toList();
		JdbcIdempotencyStore patient = new JdbcIdempotencyStore(new OwnTransactions(postgres.connect()), TABLE);
		keys.forEach((key) -> assertThat(
				patient.complete(key, REQUEST, "owner", Samples.response(key.digest()), MINUTE.multipliedBy(60)))
			.isTrue());
		postgres.kill();
		postgres.start();
		awaitAnAnswer((asked) -> asked.release(KEY, "owner"));
		assertThat(keys).allSatisfy((key) -> assertThat(patient.claim(key, REQUEST, "rival", MINUTE))
			.is(Samples.completed(Samples.response(key.digest()))));
	}

	@Test
	void reportsAnUnreachableDatabaseAsUnavailable() {
		postgres.stop();
		JdbcIdempotencyStore early = new JdbcIdempotencyStore(new OwnTransactions(impatientPool()), TABLE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> early.claim(Samples.key(), REQUEST, "owner", MINUTE));
		postgres.start();
		await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
			.until(() -> early.claim(Samples.key(), REQUEST, "owner", MINUTE).equals(new Claim.Acquired()));
	}

	@Test
	void reportsAnExhaustedPoolAsUnavailable() throws SQLException {
		try (Connection first = pool.getConnection(); Connection second = pool.getConnection()) {
			assertThat(first).isNotSameAs(second);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> store.claim(Samples.key(), REQUEST, "owner", MINUTE));
		}
		awaitAnAnswer((asked) -> assertThat(asked.claim(Samples.key(), REQUEST, "owner", MINUTE))
			.isEqualTo(new Claim.Acquired()));
	}

	@Test
	void sweepsAgainWhenTheDatabaseIsBack() {
		RecordTable table = new RecordTable(pool, TABLE);
		try (TableSweeper sweeper = Sweepers.sweeper(new OwnTransactions(pool), TABLE, Duration.ofMillis(20))) {
			sweeper.start();
			postgres.kill();
			postgres.start();
			awaitAnAnswer((asked) -> asked.release(KEY, "owner"));
			table.expire(1);
			await().until(
					() -> table.template().queryForList("select 1 from " + TABLE + " where token = 'gone'").isEmpty());
		}
	}

	private static HikariDataSource impatientPool() {
		HikariDataSource impatient = postgres.connect(postgres.url() + "?socketTimeout=30&connectTimeout=30");
		impatient.setConnectionTimeout(2_500);
		impatient.setMaximumPoolSize(2);
		return impatient;
	}

	private static void awaitAnAnswer(Consumer<IdempotencyStore> verb) {
		await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class).until(() -> {
			verb.accept(store);
			return true;
		});
	}

	/**
	 * Tests for {@link JdbcIdempotencyStore} behind a network that fails.
	 */
	@Nested
	class BehindANetwork {

		private static final String NETWORK_TABLE = "network_record";

		@RegisterExtension
		static final StallingProxy network = StallingProxy.before(postgres);

		private static JdbcIdempotencyStore store;

		private final IdempotencyKey key = Samples.key();

		@BeforeAll
		static void connect() {
			RecordTable.create(postgres.connect(), "postgresql", NETWORK_TABLE);
			HikariDataSource slowPool = postgres.connect("jdbc:postgresql://" + network.host() + ":" + network.port()
					+ "/postgres?socketTimeout=2&connectTimeout=2");
			slowPool.setConnectionTimeout(4_000);
			slowPool.setMaximumPoolSize(2);
			store = new JdbcIdempotencyStore(new OwnTransactions(slowPool), NETWORK_TABLE);
		}

		@BeforeEach
		void awaitTheNetwork() {
			await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
				.until(() -> store.release(Samples.key(), "owner"));
		}

		@AfterEach
		void resume() {
			network.resume();
		}

		@Test
		void waitsForASilentDatabaseUpToTheTimeoutOfTheDriver() {
			network.hold();
			long start = System.nanoTime();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::claim);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
			network.resume();
			awaitTheNetwork();
		}

		@Test
		void repeatsAnAnswerThatWasLost() {
			askAndLoseTheAnswer(this::claim);
			await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
				.until(this::claim, new Claim.Acquired()::equals);
			askAndLoseTheAnswer(() -> complete("first"));
			await().until(() -> store.claim(this.key, REQUEST, "rival", MINUTE) instanceof Claim.Completed);
			assertThat(complete("second")).isTrue();
			assertThat(store.claim(this.key, REQUEST, "rival", MINUTE))
				.is(Samples.completed(Samples.response("first")));
		}

		@Test
		void usesNewConnectionsAfterAReset() {
			claim();
			network.reset();
			await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
				.until(() -> store.renew(this.key, "owner", MINUTE));
		}

		private static void askAndLoseTheAnswer(Runnable verb) {
			network.dropNextReply();
			try {
				verb.run();
			}
			catch (IdempotencyStoreUnavailableException ex) {
				// On a slow machine, the pool has tested its connection first.
			}
			assertThat(network.hasDropped()).isTrue();
		}

		private Claim claim() {
			return store.claim(this.key, REQUEST, "owner", MINUTE);
		}

		private boolean complete(String response) {
			return store.complete(this.key, REQUEST, "owner", Samples.response(response), MINUTE);
		}

	}

}
