package dev.idempotent.saga.method;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.SignalResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for signals to the sagas of an application, and for their cancellation.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagaSignalsTests {

	private static final Payment PAYMENT = new Payment("p-1", new BigDecimal("19.90"),
			Instant.parse("2026-03-01T03:04:11.298468Z"));

	@Test
	void areReadAsTheTypeOfTheWait() {
		with((test) -> {
			IdempotencyKey id = test.start("1");
			test.awaitWait(id, "paid");
			assertThat(test.sagas.signal(id, "paid", PAYMENT)).isEqualTo(SignalResult.ACCEPTED);
			test.awaitWait(id, "approved");
			assertThat(test.sagas.signal(id, "approved", Level.HIGH)).isEqualTo(SignalResult.ACCEPTED);
			test.awaitWait(id, "seats");
			assertThat(test.sagas.signal(id, "seats", new String[] { "1A", "1B" })).isEqualTo(SignalResult.ACCEPTED);
			test.awaitWait(id, "ready");
			assertThat(test.sagas.signal(id, "ready")).isEqualTo(SignalResult.ACCEPTED);
			test.awaitStatus(id, SagaStatus.COMPLETED);
			assertThat(test.hotel.book("1")).isEqualTo(PAYMENT + " HIGH [1A, 1B] true");
			assertThat(test.hotel.log()).containsExactly("hold 1", "book 1");
		});
	}

	@Test
	void areEncryptedWithTheirSaga() {
		byte[] key = new byte[32];
		SagaApplication.with(Hotel.class, Reception.class)
			.withPropertyValues("idempotent.encryption.active-key=k1",
					"idempotent.encryption.keys.k1=" + Base64.getEncoder().encodeToString(key))
			.run((context) -> {
				Booking test = new Booking(context);
				IdempotencyKey id = test.start("1");
				test.awaitWait(id, "paid");
				test.sagas.signal(id, "seats", "seat-of-the-secret");
				byte[] stored = Objects.requireNonNull(
						test.jdbc.queryForObject("select content from saga_signal where name = 'seats'", byte[].class));
				assertThat(new String(stored, StandardCharsets.ISO_8859_1)).doesNotContain("seat-of-the-secret");
				test.sagas.signal(id, "paid", PAYMENT);
				test.awaitWait(id, "approved");
			});
	}

	@Test
	void areCompared() {
		with((test) -> {
			IdempotencyKey id = test.sagas.idOf("Hotel.book", "1");
			assertThat(test.sagas.signal(id, "paid", PAYMENT)).isEqualTo(SignalResult.EARLY);
			assertThat(test.sagas.signal(id, "paid", new Payment("p-1", new BigDecimal("19.9"), PAYMENT.at())))
				.isEqualTo(SignalResult.DUPLICATE);
			assertThat(test.sagas.signal(id, "paid", new Payment("p-2", PAYMENT.amount(), PAYMENT.at())))
				.isEqualTo(SignalResult.DIFFERENT);
			assertThat(test.start("1")).isEqualTo(id);
			test.awaitWait(id, "approved");
		});
	}

	@Test
	void areSentIfTheTransactionCommits() {
		with((test) -> {
			IdempotencyKey id = test.start("1");
			test.awaitWait(id, "paid");
			test.inTransaction(
					() -> assertThat(test.sagas.signal(id, "paid", PAYMENT)).isEqualTo(SignalResult.ACCEPTED), true);
			assertThat(test.signals()).isEmpty();
			assertThat(test.waitsFor(id)).isEqualTo("paid");
			test.inTransaction(() -> test.sagas.signal(id, "paid", PAYMENT), false);
			test.awaitWait(id, "approved");
			test.inTransaction(() -> assertThat(test.sagas.cancel(id, "no room")).contains(SagaStatus.COMPENSATING),
					true);
			assertThat(test.waitsFor(id)).isEqualTo("approved");
			test.inTransaction(() -> assertThat(test.sagas.cancel(id, "no room")).contains(SagaStatus.COMPENSATING),
					false);
			test.awaitStatus(id, SagaStatus.COMPENSATED);
			assertThat(test.hotel.log()).containsExactly("hold 1", "release 1");
			assertThat(test.sagas.find(id).orElseThrow().reason()).isEqualTo("Cancelled: no room");
		});
	}

	@Test
	void areRefusedInATransactionWhoseEndIsNotReported() {
		with((test) -> {
			IdempotencyKey id = test.start("1");
			test.awaitWait(id, "paid");
			AbstractPlatformTransactionManager manager = (AbstractPlatformTransactionManager) test.manager;
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
			new TransactionTemplate(manager).executeWithoutResult((status) -> {
				assertThatIllegalStateException().isThrownBy(() -> test.sagas.signal(id, "paid", PAYMENT))
					.withMessageContaining("does not support synchronization");
				assertThatIllegalStateException().isThrownBy(() -> test.sagas.cancel(id, "never mind"));
				assertThatIllegalStateException().isThrownBy(() -> test.start("2"));
				assertThatIllegalStateException().isThrownBy(() -> test.hotel.book("3"));
			});
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS);
			assertThat(test.signals()).isEmpty();
			assertThat(test.waitsFor(id)).isEqualTo("paid");
			assertThat(test.sagas.find(test.sagas.idOf("Hotel.book", "2"))).isEmpty();
		});
	}

	@Test
	void areSentInNoTransactionThatDoesNotDecide() {
		with((test) -> {
			IdempotencyKey id = test.start("1");
			test.awaitWait(id, "paid");
			DataSource other = new DriverManagerDataSource("jdbc:h2:mem:other");
			new TransactionTemplate(new DataSourceTransactionManager(other))
				.executeWithoutResult((status) -> assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
					.isThrownBy(() -> test.sagas.signal(id, "paid", PAYMENT)));
			List<Throwable> failures = new ArrayList<>();
			test.inTransaction(
					() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							try {
								test.sagas.signal(id, "paid", PAYMENT);
							}
							catch (IllegalStateException ex) {
								failures.add(ex);
							}
							try {
								test.sagas.cancel(id, "late");
							}
							catch (IllegalStateException ex) {
								failures.add(ex);
							}
						}

					}), false);
			assertThat(failures).hasSize(2)
				.allSatisfy((failure) -> assertThat(failure).hasMessageContaining("has been committed"));
			assertThat(test.waitsFor(id)).isEqualTo("paid");
		});
	}

	@Test
	void areRefusedIfTheyCannotBeStored() {
		with((test) -> {
			IdempotencyKey id = test.sagas.idOf("Hotel.book", "1");
			assertThatIllegalArgumentException().isThrownBy(() -> test.sagas.signal(id, "paid", new Object()))
				.withMessageContaining("The value of the signal 'paid'");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> test.sagas.signal(id, "paid", List.of(PAYMENT, PAYMENT)))
				.withMessageContaining("Pass a value of a class of your own");
			assertThatIllegalArgumentException().isThrownBy(() -> test.sagas.signal(id, " ", PAYMENT))
				.withMessageContaining("The name of a step or a signal");
			assertThat(test.signals()).isEmpty();
		});
	}

	/**
	 * Nothing is done with a value of another kind, and an operator sees why.
	 */
	@Test
	void haltASagaThatCannotReadThem(CapturedOutput output) {
		SagaApplication.with(Hotel.class, Reception.class)
			.withPropertyValues("idempotent.saga.attempts=1")
			.run((context) -> {
				Booking test = new Booking(context);
				IdempotencyKey id = test.start("1");
				test.awaitWait(id, "paid");
				test.sagas.signal(id, "paid", "cash");
				test.awaitStatus(id, SagaStatus.HALTED);
				assertThat(test.sagas.find(id).orElseThrow().reason())
					.isEqualTo("The value of the signal 'paid' is missing or cannot be read as "
							+ Payment.class.getTypeName() + " by this version of the application");
				assertThat(test.sagas.cancel(id, "wrong value")).contains(SagaStatus.COMPENSATING);
				test.awaitStatus(id, SagaStatus.COMPENSATED);
				assertThat(test.hotel.log()).containsExactly("hold 1", "release 1");
				assertThat(output).doesNotContain("cash");
			});
	}

	@Test
	void leaveTheCallerOfAWaitingSagaAtOnce() {
		with((test) -> {
			assertThatExceptionOfType(SagaWaitingException.class).isThrownBy(() -> test.reception.serve("r-1"))
				.satisfies((waiting) -> {
					assertThat(waiting.waitsFor()).isEqualTo("paid");
					test.sagas.signal(waiting.id(), "paid", PAYMENT);
				});
			await().ignoreExceptionsInstanceOf(IdempotencyPendingException.class)
				.untilAsserted(() -> assertThat(test.reception.serve("r-1")).isEqualTo("paid 19.90"));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "committed", "rolled back" })
	void areSentByTheStepOfAnotherSaga(String end) {
		with((test) -> {
			IdempotencyKey id = test.start("1");
			test.awaitWait(id, "paid");
			if (end.equals("committed")) {
				test.hotel.pay("p-1", id, false);
				test.awaitWait(id, "approved");
			}
			else {
				assertThatExceptionOfType(SagaCompensatedException.class)
					.isThrownBy(() -> test.hotel.pay("p-1", id, true));
				assertThat(test.signals()).isEmpty();
			}
		});
	}

	@Test
	void sleepWithoutAThread() {
		with((test) -> {
			test.sagas.start(() -> test.hotel.rest("1"));
			IdempotencyKey id = test.sagas.idOf("Hotel.rest", "1");
			await()
				.until(() -> Optional.of(SagaStatus.COMPLETED).equals(test.sagas.find(id).map(SagaSnapshot::status)));
			assertThat(test.hotel.log()).containsExactly("awake 1");
		});
	}

	@Test
	void areNotWaitedForInATransaction() {
		with((test) -> test.inTransaction(() -> assertThatIllegalStateException().isThrownBy(() -> test.hotel.book("1"))
			.withMessageContaining("is called in a transaction"), false));
	}

	private static void with(Consumer<Booking> test) {
		SagaApplication.with(Hotel.class, Reception.class).run((context) -> test.accept(new Booking(context)));
	}

	/**
	 * What a test uses of the application.
	 */
	private static final class Booking {

		private final Sagas sagas;

		private final Hotel hotel;

		private final Reception reception;

		private final JdbcTemplate jdbc;

		private final PlatformTransactionManager manager;

		Booking(ApplicationContext context) {
			this.sagas = context.getBean(Sagas.class);
			this.hotel = context.getBean(Hotel.class);
			this.reception = context.getBean(Reception.class);
			this.jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			this.manager = context.getBean(PlatformTransactionManager.class);
		}

		IdempotencyKey start(String booking) {
			return this.sagas.start(() -> this.hotel.book(booking));
		}

		void inTransaction(Runnable work, boolean rollback) {
			new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
				work.run();
				if (rollback) {
					status.setRollbackOnly();
				}
			});
		}

		List<Map<String, Object>> signals() {
			return this.jdbc.queryForList("select name from saga_signal where state = 'RECEIVED'");
		}

		String waitsFor(IdempotencyKey id) {
			return Objects.requireNonNull(this.sagas.find(id).orElseThrow().waiting()).name();
		}

		void awaitWait(IdempotencyKey id, String name) {
			await().until(() -> this.sagas.find(id)
				.map(SagaSnapshot::waiting)
				.filter((waiting) -> waiting.name().equals(name))
				.isPresent());
		}

		void awaitStatus(IdempotencyKey id, SagaStatus status) {
			await().until(() -> this.sagas.find(id).orElseThrow().status() == status);
		}

	}

	record Payment(String id, BigDecimal amount, Instant at) {
	}

	enum Level {

		LOW, HIGH

	}

	static class Reception {

		private final Hotel hotel;

		Reception(Hotel hotel) {
			this.hotel = hotel;
		}

		@Idempotent(key = "#request", name = "reception.serve")
		public String serve(String request) {
			return this.hotel.payHere();
		}

	}

	static class Hotel {

		private static final Duration LIMIT = Duration.ofMinutes(5);

		private final List<String> log = Collections.synchronizedList(new ArrayList<>());

		private final SagaSteps saga;

		private final Sagas sagas;

		Hotel(SagaSteps saga, Sagas sagas) {
			this.saga = saga;
			this.sagas = sagas;
		}

		List<String> log() {
			return this.log;
		}

		@Saga(key = "#booking", name = "Hotel.book")
		public String book(String booking) {
			this.saga.step("hold").compensate(() -> this.log.add("release " + booking)).runInTransaction(() -> {
				this.log.add("hold " + booking);
			});
			Payment payment = this.saga.await("paid", Payment.class).within(LIMIT);
			Optional<Level> level = this.saga.await("approved", Level.class).orEmptyAfter(LIMIT);
			List<String> seats = this.saga.await("seats", new ParameterizedTypeReference<List<String>>() {
			}).within(LIMIT);
			boolean ready = this.saga.await("ready").arrivesWithin(LIMIT);
			this.saga.step("book").runInTransaction(() -> {
				this.log.add("book " + booking);
			});
			return payment + " " + level.orElseThrow() + " " + seats + " " + ready;
		}

		@Saga(name = "Hotel.pay")
		public String payHere() {
			return "paid " + this.saga.await("paid", Payment.class).within(LIMIT).amount();
		}

		@Saga(key = "#payment", name = "Hotel.signal")
		public void pay(String payment, IdempotencyKey booking, boolean refused) {
			this.saga.step("signal").runInTransaction(() -> {
				this.sagas.signal(booking, "paid", PAYMENT);
				if (refused) {
					throw new IllegalStateException("refused");
				}
			});
		}

		@Saga(key = "#id", name = "Hotel.rest")
		public void rest(String id) {
			this.saga.sleep("nap", Duration.ofMillis(50));
			this.saga.step("wake").runInTransaction(() -> {
				this.log.add("awake " + id);
			});
		}

	}

}
