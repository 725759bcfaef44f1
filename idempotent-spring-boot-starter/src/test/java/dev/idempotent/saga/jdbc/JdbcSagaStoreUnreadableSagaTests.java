package dev.idempotent.saga.jdbc;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.FailureClassifier;
import dev.idempotent.saga.engine.SagaDefinition;
import dev.idempotent.saga.engine.SagaEngine;
import dev.idempotent.saga.engine.SagaSamples;
import dev.idempotent.saga.engine.SagaSettings;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A saga that cannot be read does not keep an instance from running the others. It is
 * left to another instance, and halted.
 */
class JdbcSagaStoreUnreadableSagaTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private final HikariDataSource pool = new HikariDataSource();

	private SagaRows rows;

	private JdbcSagaStore store;

	private SagaEngine engine;

	@BeforeEach
	void createTables() {
		this.pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		this.rows = SagaRows.create(this.pool, "h2", "saga_");
		this.store = new JdbcSagaStore(new OwnTransactions(this.pool), this.rows.tables().prefix(), HOUR,
				Duration.ofMinutes(10));
		this.engine = engine(PayloadEncryption.NONE);
	}

	private SagaEngine engine(PayloadEncryption encryption) {
		return new SagaEngine(this.store, new DataSourceTransactionManager(this.pool),
				new SagaSettings("process", HOUR, HOUR, 2, 2, HOUR, HOUR, HOUR, Duration.ofHours(1), null),
				new FailureClassifier(), encryption, List.of());
	}

	@AfterEach
	void close() {
		this.engine.close();
		this.pool.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					saga_step set kind = 'LATER' | The step 'first' has the kind 'LATER', which is unknown in this version of the application
					saga_step set state = 'LATER' where name = 'first' | The step 'first' has the state 'LATER', which is unknown in this version of the application
					saga_step set seq = 3 where name = 'second' | The stored step 'second' does not follow those before it
					saga_step set name = 'first' | The stored step 'first' does not follow those before it
					saga_instance set arguments = null | The stored saga has no arguments
					""")
	void isHaltedAndTheOthersRun(String change, String reason) {
		NewSaga broken = insert(SagaSamples.done("first", 1), SagaSamples.done("second", 2));
		this.rows.template().update("update " + change);
		List<NewSaga> healthy = List.of(insert(), insert(), insert());
		this.engine.open(List.of(new Returning()));
		await().atMost(Duration.ofMinutes(1)).until(() -> status(broken) == SagaStatus.HALTED);
		await().atMost(Duration.ofMinutes(1))
			.until(() -> healthy.stream().allMatch((saga) -> status(saga) == SagaStatus.COMPLETED));
		assertThat(this.rows.template()
			.queryForObject("select halt_reason from saga_instance where id = ?", String.class, broken.id().digest()))
			.isEqualTo(reason);
	}

	@Test
	void isHaltedAndNotUndoneIfItsCipherFails() {
		NewSaga broken = insert(SagaSamples.done("first", 1));
		this.rows.template().update("update saga_instance set arguments = ?", new Object[] { new byte[] { 2, 1 } });
		try (SagaEngine encrypting = engine(new PayloadEncryption(new FailingCipher(), false))) {
			encrypting.open(List.of(new Returning()));
			await().atMost(Duration.ofMinutes(1)).until(() -> status(broken) == SagaStatus.HALTED);
		}
		assertThat(this.rows.template().queryForMap("select halted_in, halt_reason from saga_instance"))
			.containsEntry("halted_in", "EXECUTING")
			.containsEntry("halt_reason", "The stored arguments cannot be decrypted: the cipher has failed with "
					+ "java.lang.IllegalStateException");
	}

	private SagaStatus status(NewSaga saga) {
		return SagaStatus.valueOf(Objects.requireNonNull(this.rows.template()
			.queryForObject("select status from saga_instance where id = ?", String.class, saga.id().digest())));
	}

	private NewSaga insert(JournalEntry... steps) {
		IdempotencyKey id = Samples.key();
		NewSaga saga = new NewSaga(new SagaOwner(id, 1), "checkout", SagaStatus.EXECUTING, "dead",
				Samples.fingerprint("order"), "\u0001[]".getBytes(StandardCharsets.UTF_8), null, HOUR, HOUR);
		this.store.insert(saga, List.of(steps));
		this.store.release(saga.owner(), List.of(), Duration.ZERO);
		return saga;
	}

	private static final class FailingCipher implements PayloadCipher {

		@Override
		public byte[] encrypt(byte[] plain, byte[] context) {
			throw new IllegalStateException("The key management service did not respond");
		}

		@Override
		public byte[] decrypt(byte[] encrypted, byte[] context) {
			throw new IllegalStateException("The key management service did not respond");
		}

	}

	private static final class Returning implements SagaDefinition {

		@Override
		public String name() {
			return "checkout";
		}

		@Override
		public Duration timeout() {
			return HOUR;
		}

		@Override
		public @Nullable Object run(byte[] arguments) {
			return null;
		}

		@Override
		public byte[] writeResult(@Nullable Object result) {
			return new byte[] { 1 };
		}

		@Override
		public @Nullable Object readResult(byte[] stored) {
			return null;
		}

		@Override
		public byte[] writeStepResult(Type type, @Nullable Object result) {
			return new byte[] { 1 };
		}

		@Override
		public @Nullable Object readStepResult(Type type, byte[] stored) {
			return null;
		}

	}

}
