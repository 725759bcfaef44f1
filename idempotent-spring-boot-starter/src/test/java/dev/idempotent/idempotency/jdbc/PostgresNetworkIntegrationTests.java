package dev.idempotent.idempotency.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcIdempotencyStore} behind a network that fails.
 */
@Timeout(180)
class PostgresNetworkIntegrationTests {

	private static final String TABLE = "network_record";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	@RegisterExtension
	@Order(1)
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	@Order(2)
	static final StallingProxy network = StallingProxy.before(postgres);

	private static JdbcIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		RecordTable.create(postgres.connect(), "postgresql", TABLE);
		HikariDataSource pool = postgres.connect("jdbc:postgresql://" + network.host() + ":" + network.port()
				+ "/postgres?socketTimeout=2&connectTimeout=2");
		pool.setConnectionTimeout(4_000);
		pool.setMaximumPoolSize(2);
		store = new JdbcIdempotencyStore(new OwnTransactions(pool), TABLE);
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
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).is(Samples.completed(Samples.response("first")));
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
