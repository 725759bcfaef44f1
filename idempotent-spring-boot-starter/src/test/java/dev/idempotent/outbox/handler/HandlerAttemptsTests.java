package dev.idempotent.outbox.handler;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.OutboxOperations;
import dev.idempotent.testing.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The attempts of handlers: which events get one, how many, and what they find, also
 * during an outage, beyond a lease, and after operators or another version.
 */
@Timeout(120)
class HandlerAttemptsTests {

	private static final List<String> DATABASE = List.of("spring.datasource.generate-unique-name=false",
			"spring.datasource.url=jdbc:h2:mem:handler-attempts;DB_CLOSE_DELAY=-1");

	private static final String MAIL = "handlers:mail";

	/**
	 * How many failures in a row count as an outage.
	 */
	private static final int FAILURES = 10;

	private final List<HandlerShop> shops = new ArrayList<>();

	@AfterEach
	void close() {
		this.shops.get(0).forgetAll();
		this.shops.forEach(HandlerShop::close);
	}

	@Test
	void doNotGetEventsFromBeforeTheyExisted() {
		HandlerShop before = open(List.of(), "idempotent.outbox.relay.enabled=false");
		before.append(HandlerShop.event("order.placed", "1"));
		HandlerShop after = open(List.of(Later.class));
		await().untilAsserted(() -> assertThat(after.rows()).isZero());
		assertThat(after.work("book")).containsExactly("1");
		assertThat(after.bean(Later.class).calls).hasValue(0);
		after.append(HandlerShop.event("order.placed", "2"));
		await().untilAsserted(() -> assertThat(after.rows()).isZero());
		assertThat(after.bean(Later.class).calls).hasValue(1);
	}

	@Test
	void getADeadEventAgainIfAnOperatorRetriesIt() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.handlers.attempts=1");
		AtomicBoolean repaired = failUntilRepaired(shop);
		shop.append(HandlerShop.event("order.placed", "1").withKey("key"));
		shop.append(HandlerShop.event("order.placed", "2").withKey("key"));
		await().untilAsserted(() -> assertThat(shop.dead()).hasSize(1));
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		assertThat(shop.work("book")).containsExactly("2");
		repaired.set(true);
		assertThat(shop.bean(DeadEvents.class).retry(new EventFilter(null, null, "handlers:book"))).isOne();
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		assertThat(shop.work("book")).containsExactly("1", "2");
		assertThat(shop.work("audit")).hasSize(2);
	}

	@Test
	void goOnBehindABlockedEventThatAnOperatorSkips() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.handlers.attempts=1", "idempotent.outbox.on-dead=block");
		AtomicBoolean unused = failUntilRepaired(shop);
		shop.append(HandlerShop.event("order.placed", "1").withKey("key"));
		shop.append(HandlerShop.event("order.placed", "2").withKey("key"));
		OutboxOperations operations = shop.bean(OutboxOperations.class);
		await().untilAsserted(() -> assertThat(operations.blocked(EventFilter.ALL, null, 10).events()).singleElement()
			.satisfies((event) -> assertThat(event.topic()).isEqualTo("handlers:book")));
		assertThat(shop.work("book")).isEmpty();
		assertThat(operations.skipBlocked(EventFilter.ALL)).isOne();
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		assertThat(shop.work("book")).containsExactly("2");
		assertThat(shop.dead()).hasSize(1);
	}

	/**
	 * There is no row whose lock could keep others away.
	 */
	@Test
	void areCalledBesideAnAttemptBeyondItsLeaseWithoutATransaction() {
		HandlerShop slow = open(List.of(), "idempotent.outbox.handlers.leases.mail=1s");
		AtomicInteger calls = new AtomicInteger();
		CountDownLatch called = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		slow.handlers().whenMailing((id) -> {
			calls.incrementAndGet();
			called.countDown();
			Patience.await(end);
		});
		slow.append(HandlerShop.event("order.shipped", "1").withKey("1"));
		Patience.await(called);
		// Its own lease is long enough for one attempt on any machine.
		HandlerShop other = open(List.of());
		await().untilAsserted(() -> assertThat(other.rows()).isZero());
		assertThat(other.work("mail")).containsExactly("1");
		end.countDown();
		await().untilAsserted(() -> assertThat(other.work("mail")).containsExactly("1", "1"));
		assertThat(calls).hasValue(1);
		await().untilAsserted(() -> assertThat(slow.lost()).isOne());
		assertThat(other.lost()).isZero();
	}

	@Test
	void failAtTheirFirstStatementBehindTheirLease() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.handlers.leases.book=1s");
		HandlerShop other = open(List.of(), "idempotent.outbox.relay.enabled=false");
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				// Beside the transaction of this thread.
				await().untilAsserted(() -> assertThat(other.jdbc()
					.queryForObject("select count(*) from handler_event where topic = 'handlers:book' "
							+ "and due_at < current_timestamp", Integer.class))
					.isOne());
				assertThatExceptionOfType(TransactionTimedOutException.class)
					.isThrownBy(() -> shop.handlers().work("book", "late"));
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	/**
	 * As if the log was full when the failure of the first call is reported.
	 */
	@Test
	void areCalledOncePerAttemptWhateverTheirObservationThrows() {
		Observing.observed.set(0);
		HandlerShop shop = open(List.of(Observing.class), "idempotent.outbox.handlers.leases.mail=1s");
		Logger log = (Logger) LoggerFactory.getLogger(OutboxHandlerMethod.class);
		FullLog full = new FullLog();
		log.addAppender(full);
		AtomicInteger calls = new AtomicInteger();
		List<Integer> observed = new CopyOnWriteArrayList<>();
		shop.handlers().whenMailing((id) -> {
			observed.add(Observing.observed.get());
			if (calls.incrementAndGet() == 1) {
				throw new IllegalStateException("not yet");
			}
		});
		try {
			shop.append(HandlerShop.event("order.shipped", "1"));
			await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		}
		finally {
			log.detachAppender(full);
		}
		assertThat(observed).containsExactly(1, 3);
		assertThat(shop.work("mail")).containsExactly("1");
	}

	@Test
	void haveTheSameKeyAtEachAttemptInATransactionToo() {
		HandlerShop shop = open(List.of());
		List<String> keys = new CopyOnWriteArrayList<>();
		shop.handlers().whenBooking((id) -> {
			keys.add(Objects.requireNonNull(IdempotencyContext.current()).key().digest());
			if (keys.size() < 3) {
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		assertThat(keys).hasSize(3).containsOnly(keys.get(0));
	}

	@Test
	void findNothingOnTheThreadThatAnEarlierCallHasLeftThere() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.handlers.concurrency=1");
		List<String> found = new CopyOnWriteArrayList<>();
		Consumer<String> leaving = (id) -> {
			found.add("%s %s %s %s".formatted(MDC.get("order"), LocaleContextHolder.getLocaleContext(),
					SecurityContextHolder.getContext().getAuthentication(),
					RequestContextHolder.getRequestAttributes()));
			MDC.put("order", id);
			LocaleContextHolder.setLocale(Locale.CANADA);
			SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(id, id));
			RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(new MockHttpServletRequest()));
			if (found.size() % 3 == 1) {
				throw new IllegalStateException("not yet");
			}
		};
		shop.handlers().whenBooking(leaving);
		shop.handlers().whenMailing(leaving);
		for (String type : List.of("order.placed", "order.shipped")) {
			shop.append(HandlerShop.event(type, "1").withKey("key"));
			shop.append(HandlerShop.event(type, "2").withKey("key"));
			await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		}
		assertThat(found).hasSize(6).containsOnly("null null null null");
	}

	@Test
	void leaveTheThreadOfATestAsItWas() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.relay.enabled=false");
		shop.append(HandlerShop.event("order.placed", "1"));
		shop.handlers().whenBooking((id) -> {
			assertThat(MDC.get("test")).isNull();
			MDC.put("order", id);
		});
		MDC.put("test", "own");
		try {
			assertThat(shop.relay().runHandlers()).isEqualTo(2);
			assertThat(MDC.getCopyOfContextMap()).containsOnly(Map.entry("test", "own"));
		}
		finally {
			MDC.clear();
		}
	}

	@Test
	void useUpNoAttemptsDuringAnOutageAndKeepTheOrder() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.handlers.attempts=3");
		AtomicBoolean away = new AtomicBoolean(true);
		AtomicInteger calls = new AtomicInteger();
		List<String> handled = new CopyOnWriteArrayList<>();
		shop.handlers().whenMailing((id) -> {
			calls.incrementAndGet();
			if (away.get()) {
				throw new IllegalStateException("The provider is away");
			}
			handled.add(id);
		});
		append(shop, 20, 3);
		await().until(() -> calls.get() >= FAILURES);
		await().untilAsserted(() -> assertThat(shop.relay().unavailablePublishers()).containsExactly(MAIL));
		int counted = attempts(shop);
		int before = calls.get();
		await().until(() -> calls.get() > before + 2);
		assertThat(attempts(shop)).isLessThanOrEqualTo(counted + 1).isLessThanOrEqualTo(FAILURES);
		assertThat(shop.dead()).isEmpty();
		away.set(false);
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
		assertThat(shop.dead()).isEmpty();
		Map<String, List<String>> byKey = handled.stream()
			.collect(Collectors.groupingBy((id) -> id.substring(0, id.indexOf('-'))));
		assertThat(byKey).hasSize(20)
			.allSatisfy((key, ids) -> assertThat(ids).containsExactly(key + "-0", key + "-1", key + "-2"));
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
	}

	@Test
	void giveUpTheEventsOfAFewKeysThatFail() {
		HandlerShop shop = open(List.of(), "idempotent.outbox.handlers.attempts=3");
		shop.handlers().whenMailing((id) -> {
			throw new IllegalStateException("This event is at fault");
		});
		append(shop, 2, 10);
		await().untilAsserted(() -> assertThat(shop.dead()).hasSize(20));
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
	}

	private HandlerShop open(List<Class<?>> more, String... properties) {
		HandlerShop shop = HandlerShop.open(DATABASE, HandlerShop.OFTEN, more, properties);
		this.shops.add(shop);
		return shop;
	}

	/**
	 * Fails for the event 1 only.
	 */
	private static AtomicBoolean failUntilRepaired(HandlerShop shop) {
		AtomicBoolean repaired = new AtomicBoolean();
		shop.handlers().whenBooking((id) -> {
			if (id.equals("1") && !repaired.get()) {
				throw new IllegalStateException("not yet");
			}
		});
		return repaired;
	}

	private static void append(HandlerShop shop, int keys, int events) {
		List<OutboxEvent> all = new ArrayList<>();
		for (int event = 0; event < events; event++) {
			for (int key = 0; key < keys; key++) {
				all.add(HandlerShop.event("order.shipped", key + "-" + event).withKey("key-" + key));
			}
		}
		shop.append(all.toArray(OutboxEvent[]::new));
	}

	private static int attempts(HandlerShop shop) {
		return shop.waiting().stream().mapToInt((row) -> (Integer) row.get("attempts")).sum();
	}

	/**
	 * Fails before the second attempt.
	 */
	static final class Observing implements HandlerEnvironment.Observation {

		private static final AtomicInteger observed = new AtomicInteger();

		@Override
		public Outcome observe(SerializedEvent event, Supplier<Outcome> attempt) {
			if (observed.incrementAndGet() == 2) {
				observed.incrementAndGet();
				throw new IllegalStateException("observation");
			}
			return attempt.get();
		}

	}

	private static final class FullLog extends AppenderBase<ILoggingEvent> {

		private boolean failed;

		@Override
		protected void append(ILoggingEvent event) {
			// Not called.
		}

		@Override
		public synchronized void doAppend(ILoggingEvent event) {
			if (!this.failed && event.getLevel() == Level.WARN) {
				this.failed = true;
				throw new IllegalStateException("The log is full");
			}
		}

	}

	static class Later {

		private final AtomicInteger calls = new AtomicInteger();

		@OutboxHandler(type = "order.placed", name = "later")
		void handle() {
			this.calls.incrementAndGet();
		}

	}

}
