package dev.idempotent.outbox.handler;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.testing.LostCommitReplies;
import dev.idempotent.testing.Patience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * What handlers promise on each database, and how they commit.
 */
abstract class AbstractHandlerTests {

	private final List<HandlerShop> shops = new ArrayList<>();

	@AfterEach
	void close() {
		this.shops.stream().findFirst().ifPresent(HandlerShop::forgetAll);
		this.shops.forEach(HandlerShop::close);
	}

	@Test
	void callEachHandlerOfATypeAfterTheCommit() {
		HandlerShop shop = open(HandlerShop.SELDOM);
		shop.newTransaction().executeWithoutResult((status) -> {
			shop.bean(Outbox.class).append(HandlerShop.event("order.placed", "1").withKey("1"));
			assertThat(shop.work("book")).isEmpty();
		});
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.work("audit")).containsExactly("order.placed");
		assertThat(shop.handlers().headers()).singleElement()
			.satisfies((headers) -> assertThat(headers).containsEntry("ce_subject", "1").containsKey("ce_id"));
		assertThat(shop.lost()).isZero();
	}

	/**
	 * Otherwise the one that ends the process would use up the attempts of the others.
	 */
	@Test
	void beginOneEventAtATimeWhoseLastAttemptDidNotEnd() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.concurrencies.book=4");
		CountDownLatch others = new CountDownLatch(3);
		CountDownLatch two = new CountDownLatch(2);
		AtomicInteger suspects = new AtomicInteger();
		List<Integer> together = new CopyOnWriteArrayList<>();
		shop.bean(TopicControl.class).pause("handlers:book");
		shop.handlers().whenBooking((id) -> {
			if (!id.startsWith("left")) {
				others.countDown();
				return;
			}
			together.add(suspects.incrementAndGet());
			two.countDown();
			Patience.await(others);
			boolean unused = isDownSoon(two);
			suspects.decrementAndGet();
		});
		for (int i = 0; i < 4; i++) {
			shop.leaveBehind("handlers:book", (i % 2 == 0) ? null : "key-" + i, "{\"id\":\"left-" + i + "\"}", 1);
		}
		shop.append(HandlerShop.event("order.placed", "1"), HandlerShop.event("order.placed", "2"),
				HandlerShop.event("order.placed", "3").withKey("key"));
		shop.bean(TopicControl.class).resume("handlers:book");
		awaitNoRows(shop);
		assertThat(together).containsExactly(1, 1, 1, 1);
		assertThat(shop.work("book")).hasSize(7);
	}

	/**
	 * As by a version that could not read them.
	 */
	@Test
	void beginEventsTogetherThatWereGivenBack() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.concurrencies.book=3");
		CountDownLatch together = new CountDownLatch(3);
		shop.bean(TopicControl.class).pause("handlers:book");
		shop.handlers().whenBooking((id) -> {
			together.countDown();
			Patience.await(together);
		});
		for (int i = 0; i < 3; i++) {
			shop.leaveBehind("handlers:book", "key-" + i, "{\"id\":\"left-" + i + "\"}", 0);
		}
		shop.jdbc().update("update handler_event set last_error = 'not read'");
		shop.bean(TopicControl.class).resume("handlers:book");
		awaitNoRows(shop);
		assertThat(shop.work("book")).hasSize(3);
	}

	@Test
	void waitForNoEventThatHangsForLongerThanItsLease() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.leases.book=1s",
				"idempotent.outbox.handlers.concurrencies.book=2");
		CountDownLatch second = new CountDownLatch(2);
		shop.bean(TopicControl.class).pause("handlers:book");
		shop.handlers().whenBooking((id) -> {
			second.countDown();
			Patience.await(second);
		});
		shop.leaveBehind("handlers:book", null, "{\"id\":\"left-1\"}", 1);
		shop.leaveBehind("handlers:book", null, "{\"id\":\"left-2\"}", 1);
		shop.bean(TopicControl.class).resume("handlers:book");
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("left-1", "left-2");
	}

	@Test
	void areNotCalledAfterARollback() {
		HandlerShop shop = open(HandlerShop.SELDOM);
		shop.newTransaction().executeWithoutResult((status) -> {
			shop.bean(Outbox.class).append(HandlerShop.event("order.placed", "lost"));
			status.setRollbackOnly();
		});
		shop.append(HandlerShop.event("order.placed", "kept"));
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("kept");
	}

	@Test
	void refuseAnEventThatNoneHandles() {
		HandlerShop shop = open(HandlerShop.SELDOM);
		assertThatIllegalArgumentException().isThrownBy(() -> shop.append(HandlerShop.event("unknown", "1")))
			.withMessage("No @OutboxHandler method of this application handles events of the type 'unknown'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> shop.append(HandlerShop.event("order.placed", "1").toTopic("handlers:book")))
			.withMessageContaining("append to the topic 'handlers'");
		assertThat(shop.rows()).isZero();
	}

	@Test
	void repeatWorkThatAnExceptionHasRolledBack() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() < 3) {
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(3);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.work("audit")).hasSize(1);
		assertThat(shop.lost()).isZero();
	}

	@Test
	void giveUpAfterTheLastAttempt() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=2");
		shop.handlers().whenBooking((id) -> {
			throw new IllegalStateException("never: secret");
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(shop.dead()).singleElement()
			.satisfies((dead) -> assertThat(dead).containsEntry("topic", "handlers:book")
				.containsEntry("attempts", 2)
				.containsEntry("last_error", "The handler failed with java.lang.IllegalStateException"));
		assertThat(shop.work("book")).isEmpty();
	}

	@Test
	void repeatWorkThatIsMarkedAsRollbackOnly() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		TransactionTemplate joined = new TransactionTemplate(shop.bean(PlatformTransactionManager.class));
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				joined.executeWithoutResult((status) -> status.setRollbackOnly());
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	@Test
	void repeatWorkWhoseFailureTheyHaveCaught() {
		HandlerShop shop = open(List.of(Inner.class), HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				try {
					shop.bean(Inner.class).fail();
				}
				catch (IllegalStateException ex) {
					// As an application that is wrong about it.
				}
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	@Test
	void leaveWorkOfANewTransactionToThatTransaction() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			shop.newTransaction().executeWithoutResult((status) -> shop.handlers().work("inner", id));
			if (calls.incrementAndGet() == 1) {
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.work("inner")).containsExactly("1", "1");
	}

	@Test
	void commitTheirEventsWithTheirWork() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			shop.bean(Outbox.class).append(HandlerShop.event("order.shipped", "of attempt " + calls.incrementAndGet()));
			if (calls.get() < 3) {
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.work("mail")).containsExactly("of attempt 3");
	}

	@Test
	void keepTheOrderOfAKeyInSeveralInstances() {
		String[] concurrency = { "idempotent.outbox.handlers.concurrency=3" };
		HandlerShop shop = open(HandlerShop.OFTEN, concurrency);
		HandlerShop other = open(HandlerShop.OFTEN, concurrency);
		List<String> booked = new CopyOnWriteArrayList<>();
		Set<String> failed = ConcurrentHashMap.newKeySet();
		for (HandlerShop each : List.of(shop, other)) {
			each.handlers().whenBooking((id) -> {
				if (Integer.parseInt(id) % 5 == 0 && failed.add(id)) {
					throw new IllegalStateException("not yet");
				}
				booked.add(id);
			});
		}
		IntStream.range(0, 30)
			.forEach((i) -> ((i % 2 == 0) ? shop : other)
				.append(HandlerShop.event("order.placed", Integer.toString(i)).withKey("key")));
		awaitNoRows(shop);
		assertThat(booked).containsExactlyElementsOf(IntStream.range(0, 30).mapToObj(Integer::toString).toList());
	}

	@Test
	void handleEachEventOnceInSeveralInstances() {
		String[] concurrency = { "idempotent.outbox.handlers.concurrency=3",
				"idempotent.outbox.handlers.leases.book=1s" };
		HandlerShop shop = open(HandlerShop.OFTEN, concurrency);
		HandlerShop other = open(HandlerShop.OFTEN, concurrency);
		OutboxEvent[] events = IntStream.range(0, 100)
			.mapToObj((i) -> HandlerShop.event("order.placed", Integer.toString(1000 + i)))
			.toArray(OutboxEvent[]::new);
		shop.append(events);
		other.append(events);
		awaitNoRows(shop);
		assertThat(shop.work("audit")).hasSize(200);
		assertThat(shop.work("book")).hasSize(200);
		assertThat(Set.copyOf(shop.work("book"))).hasSize(100);
	}

	/**
	 * The lock of the deleted row keeps other instances away while the handler works,
	 * longer than its lease.
	 */
	@Test
	void areNotOvertakenWhileTheirTransactionLives() throws Exception {
		String[] lease = { "idempotent.outbox.handlers.leases.book=1s" };
		HandlerShop shop = open(HandlerShop.OFTEN, lease);
		HandlerShop other = open(HandlerShop.OFTEN, lease);
		AtomicInteger calls = new AtomicInteger();
		CountDownLatch called = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		for (HandlerShop each : List.of(shop, other)) {
			each.handlers().whenBooking((id) -> {
				calls.incrementAndGet();
				called.countDown();
				Patience.await(end);
			});
		}
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		Patience.await(called);
		// Shows when the lease of the first event has ended.
		await().untilAsserted(() -> assertThat(other.jdbc()
			.queryForObject("select count(*) from handler_event where topic = 'handlers:book' "
					+ "and due_at < current_timestamp", Integer.class))
			.isOne());
		other.relay().wake();
		other.append(HandlerShop.event("order.placed", "2"));
		await().untilAsserted(() -> assertThat(other.work("audit")).hasSize(2));
		assertThat(calls.get()).isLessThanOrEqualTo(2);
		end.countDown();
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("1", "2");
	}

	@Test
	void takeOverTheEventsOfADeadInstance() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		shop.leaveBehind("handlers:book", "key", "{\"id\":\"1\"}", 1);
		shop.leaveBehind("handlers:mail", null, "{\"id\":\"2\"}", 3);
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.work("mail")).containsExactly("2");
	}

	@Test
	void becomeDeadIfEachAttemptEndedWithoutAResult() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=3");
		shop.leaveBehind("handlers:book", "key", "{\"id\":\"1\"}", 3);
		awaitNoRows(shop);
		assertThat(shop.dead()).hasSize(1);
		assertThat(shop.work("book")).isEmpty();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void tellOfEventsThatNobodyHandles(CapturedOutput output) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		shop.leaveBehind("handlers:gone", "key", "{\"id\":\"1\"}", 2);
		await().untilAsserted(() -> assertThat(output)
			.containsOnlyOnce("Events for [handlers:gone] have been due for more than 5 minutes"));
		assertThat(shop.relay().lastPass().orElseThrow().unserved()).singleElement().satisfies((unserved) -> {
			assertThat(unserved.topic()).isEqualTo("handlers:gone");
			assertThat(unserved.events()).isOne();
			assertThat(unserved.dueFor()).isGreaterThan(Duration.ofDays(1));
		});
		assertThat(shop.waiting()).singleElement().satisfies((event) -> assertThat(event).containsEntry("attempts", 2));
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void leaveAPayloadThatTheyCannotReadForADay(CapturedOutput output) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		shop.leaveBehind("handlers:book", "key", "{\"id\":\"secret", 0);
		String reason = "The payload cannot be converted to " + HandlerShop.Order.class.getName();
		await().untilAsserted(() -> assertThat(shop.waiting()).singleElement()
			.satisfies((event) -> assertThat(event).containsEntry("attempts", 0).containsEntry("last_error", reason)));
		shop.jdbc().update("delete from handler_event");
		shop.newTransaction().executeWithoutResult((status) -> {
			shop.leaveBehind("handlers:book", "key", "{\"id\":\"secret", 0);
			shop.jdbc().update("update handler_event set created_at = timestamp '2001-01-01 00:00:00'");
		});
		awaitNoRows(shop);
		assertThat(shop.dead()).singleElement()
			.satisfies((dead) -> assertThat(dead).containsEntry("attempts", 1).containsEntry("last_error", reason));
		assertThat(output).containsOnlyOnce("An event for handlers:book is left to other versions for a day")
			.contains("The handler book cannot read an event, and for a day no version could: " + reason)
			.doesNotContain("secret");
	}

	@Test
	void runWithoutATransactionAndWithTheSameKeyAtEachAttempt() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		List<String> keys = new CopyOnWriteArrayList<>();
		shop.handlers().whenMailing((id) -> {
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
			keys.add(Objects.requireNonNull(IdempotencyContext.current()).key().digest());
			if (keys.size() < 3) {
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.shipped", "1"));
		awaitNoRows(shop);
		assertThat(keys).hasSize(3).containsOnly(keys.get(0));
		assertThat(shop.work("mail")).containsExactly("1");
		shop.append(HandlerShop.event("order.shipped", "2"));
		awaitNoRows(shop);
		assertThat(keys.get(3)).isNotEqualTo(keys.get(0));
	}

	/**
	 * The work of all later events of the thread would join it, and never commit. To end
	 * it must not hide why the call has failed.
	 */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void doNotRunInATransactionThatAnEarlierCallHasLeftOpen(CapturedOutput output) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		List<Boolean> transactions = new CopyOnWriteArrayList<>();
		shop.handlers().whenMailing((id) -> {
			transactions.add(TransactionSynchronizationManager.isActualTransactionActive());
			if (transactions.size() < 3) {
				TransactionStatus unused = shop.bean(PlatformTransactionManager.class)
					.getTransaction(new DefaultTransactionDefinition());
			}
			if (transactions.size() == 1) {
				JdbcUtils.closeConnection(DataSourceUtils.getConnection(shop.bean(DataSource.class)));
				throw new ArithmeticException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.shipped", "1").withKey("key"),
				HandlerShop.event("order.shipped", "2").withKey("key"));
		awaitNoRows(shop);
		assertThat(transactions).containsExactly(false, false, false, false);
		assertThat(output).contains("has failed with java.lang.ArithmeticException (attempt 1)");
		assertThat(shop.work("mail")).containsExactly("1", "2");
	}

	@Test
	void waitForTheTimeOfAnEvent() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		shop.append(HandlerShop.event("order.placed", "1").availableAt(Instant.now().plus(Duration.ofDays(1))));
		assertThat(shop.jdbc().queryForList("select topic from handler_delayed", String.class))
			.containsExactlyInAnyOrder("handlers:audit", "handlers:book");
		assertThat(shop.rows()).isZero();
	}

	@Test
	void arePausedOneByOne() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		shop.bean(TopicControl.class).pause("handlers:book");
		shop.relay().refreshPausedTopics();
		shop.append(HandlerShop.event("order.placed", "1"));
		await().untilAsserted(() -> assertThat(shop.work("audit")).hasSize(1));
		assertThat(shop.work("book")).isEmpty();
		shop.bean(TopicControl.class).resume("handlers:book");
		awaitNoRows(shop);
		assertThat(shop.work("book")).containsExactly("1");
	}

	@Test
	void blockTheKeyOfAnEventWithoutANextAttempt() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=1",
				"idempotent.outbox.on-dead=block");
		shop.handlers().whenBooking((id) -> {
			throw new IllegalStateException("never");
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("key"));
		await().untilAsserted(() -> assertThat(shop.jdbc()
			.queryForList("select last_error from handler_event where topic = 'handlers:book'", String.class))
			.containsExactly("The handler failed with java.lang.IllegalStateException"));
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void handleAnEventOnceIfTheReplyToTheirCommitIsLost() {
		HandlerShop shop = open(List.of(LostCommitReplies.OfOneThread.class), HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			calls.incrementAndGet();
			LostCommitReplies.OfOneThread.expect();
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		// Others see the commit before its reply.
		await().until(LostCommitReplies.OfOneThread::isLost);
		assertThat(calls).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void areNotCalledIfAnotherInstanceHasClaimedTheEvent() {
		HandlerShop shop = open(List.of(Overtaking.class), HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> calls.incrementAndGet());
		shop.leaveBehind("handlers:book", "1", "{\"id\":\"1\"}", 1);
		awaitNoRows(shop);
		assertThat(shop.bean(Overtaking.class).attempts).hasValueGreaterThan(1);
		assertThat(calls).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.lost()).isOne();
	}

	@Test
	void countNoAttemptIfThereIsNoConnection() {
		HandlerShop shop = open(List.of(Refusals.class), HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=1");
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		assertThat(shop.bean(Refusals.class).refused).hasValueGreaterThanOrEqualTo(3);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.dead()).isEmpty();
	}

	/**
	 * Spring does not roll back for a {@code TransactionException}, which it takes for
	 * one of the commit itself.
	 */
	@ParameterizedTest
	@ValueSource(classes = { IllegalStateException.class, CannotCreateTransactionException.class,
			UnexpectedRollbackException.class })
	void handleAnEventAgainIfTheirCommitFails(Class<? extends RuntimeException> failure) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers()
			.whenBooking(
					(id) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							if (calls.incrementAndGet() == 1) {
								throw failure(failure);
							}
						}

					}));
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	/**
	 * Some statements do so implicitly, such as DDL on MySQL and H2.
	 */
	@Test
	void areCalledAgainIfTheyHaveCommittedAndFailed() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				commit(shop.bean(DataSource.class));
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1", "1");
		assertThat(shop.lost()).isZero();
	}

	/**
	 * Whose process dies before it notices, so that only the row in the table is left.
	 */
	@Test
	void keepTheirEventIfTheyCommitBeforeTheirWorkIsDone() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger rows = new AtomicInteger(-1);
		shop.handlers().whenBooking((id) -> {
			if (rows.get() < 0) {
				commit(shop.bean(DataSource.class));
				rows.set(shop.newTransaction().execute((status) -> shop.rowsOf("handlers:book")));
				throw new IllegalStateException("As if the process had died");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		assertThat(rows).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1", "1");
	}

	@Test
	void commitNothingIfTheirManagerCannotRollBack() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				TransactionSynchronizationManager.clearSynchronization();
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	/**
	 * Behind the deletion of the event, which is undone: later events of the key must not
	 * overtake it, and what the other code writes then is not committed.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void areCalledAgainIfOtherCodeHasRolledBackBeforeTheirCommit(boolean goesOn) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		List<String> calls = new CopyOnWriteArrayList<>();
		shop.handlers().whenBooking((id) -> {
			calls.add(id);
			if (calls.size() == 2) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCompletion() {
						rollBack(shop.bean(DataSource.class), goesOn);
					}

				});
			}
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"),
				HandlerShop.event("order.placed", "2").withKey("1"),
				HandlerShop.event("order.placed", "3").withKey("1"));
		awaitNoRows(shop);
		assertThat(calls).containsExactly("1", "2", "2", "3");
		assertThat(shop.work("book")).containsExactly("1", "2", "3");
		assertThat(shop.work("other")).isEmpty();
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void areDoneOnceTheyHaveCommittedWhateverFollows() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers()
			.whenBooking(
					(id) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							calls.incrementAndGet();
							throw new IllegalStateException("too late");
						}

					}));
		shop.append(HandlerShop.event("order.placed", "1"));
		// The commit is seen before its callback is called.
		await().untilAsserted(() -> assertThat(calls).hasValue(1));
		awaitNoRows(shop);
		assertThat(calls).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.lost()).isZero();
	}

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	final HandlerShop open(String[] relay, String... properties) {
		return open(List.of(), relay, properties);
	}

	HandlerShop open(List<Class<?>> more, String[] relay, String... properties) {
		HandlerShop shop = HandlerShop.open(database(), relay, more, properties);
		this.shops.add(shop);
		return shop;
	}

	final void awaitNoRows(HandlerShop shop) {
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
	}

	private static boolean isDownSoon(CountDownLatch latch) {
		try {
			return latch.await(100, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static RuntimeException failure(Class<? extends RuntimeException> type) {
		try {
			return BeanUtils.instantiateClass(ReflectionUtils.accessibleConstructor(type, String.class), "not yet");
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void rollBack(DataSource dataSource, boolean goesOn) {
		Connection connection = DataSourceUtils.getConnection(dataSource);
		try {
			connection.rollback();
			if (goesOn) {
				// Begins another transaction.
				connection.prepareStatement("insert into handler_work (handler, content) values ('other', '1')")
					.execute();
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void commit(DataSource dataSource) {
		try {
			DataSourceUtils.getConnection(dataSource).commit();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Inner {

		@Transactional
		public void fail() {
			throw new IllegalStateException("inner");
		}

	}

	/**
	 * Another instance claims an event after this one has done so, and fails.
	 */
	static final class Overtaking implements HandlerEnvironment.Observation {

		private final AtomicInteger attempts = new AtomicInteger();

		private final JdbcTemplate jdbc;

		Overtaking(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Override
		public Outcome observe(SerializedEvent event, Supplier<Outcome> attempt) {
			if (event.topic().equals("handlers:book") && this.attempts.incrementAndGet() == 1) {
				this.jdbc.update("update handler_event set attempts = attempts + 1, due_at = null where id = ?",
						event.sequence());
			}
			return attempt.get();
		}

	}

	/**
	 * A pool that has no connection for the first three transactions of a handler.
	 */
	static final class Refusals implements HandlerEnvironment.Observation, BeanPostProcessor {

		private final AtomicInteger refused = new AtomicInteger();

		private volatile @Nullable Thread of;

		@Override
		public Outcome observe(SerializedEvent event, Supplier<Outcome> attempt) {
			if (event.topic().equals("handlers:book") && this.refused.get() < 3) {
				this.of = Thread.currentThread();
			}
			return attempt.get();
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real) ? new DelegatingDataSource(real) {

				@Override
				public Connection getConnection() throws SQLException {
					if (Refusals.this.of == Thread.currentThread()) {
						Refusals.this.of = null;
						Refusals.this.refused.incrementAndGet();
						throw new SQLTransientConnectionException("There is no connection");
					}
					return super.getConnection();
				}

			} : bean;
		}

	}

}
