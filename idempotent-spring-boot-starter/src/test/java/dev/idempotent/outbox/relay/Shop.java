package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.jdbc.LaneHash;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An instance of an application that appends events and delivers them.
 */
final class Shop implements AutoCloseable {

	/**
	 * Looks for events that it was not told of only on request.
	 */
	static final String[] SELDOM = { "idempotent.outbox.relay.scan-interval=1h" };

	/**
	 * Looks for events continually.
	 */
	static final String[] OFTEN = { "idempotent.outbox.relay.scan-interval=20ms",
			"idempotent.outbox.relay.backoff=20ms" };

	private final ConfigurableApplicationContext context;

	private Shop(ConfigurableApplicationContext context) {
		this.context = context;
	}

	static Shop open(List<String> database, String[] relay, String... more) {
		return open(database, relay, Losses.class, more);
	}

	/**
	 * An instance with one more bean.
	 */
	static Shop open(List<String> database, String[] relay, Class<?> bean, String... more) {
		List<String> all = new ArrayList<>(database);
		all.add("idempotent.outbox.table-prefix=relay_");
		all.addAll(Arrays.asList(relay));
		all.addAll(Arrays.asList(more));
		return new Shop(OutboxApplication.start(all, Losses.class, bean));
	}

	RecordingPublisher broker() {
		return this.context.getBean(RecordingPublisher.class);
	}

	OutboxRelay relay() {
		return this.context.getBean(OutboxRelay.class);
	}

	PlatformTransactionManager manager() {
		return this.context.getBean(PlatformTransactionManager.class);
	}

	JdbcClient database() {
		return this.context.getBean(JdbcClient.class);
	}

	/**
	 * Commits events in one transaction.
	 */
	void append(String... types) {
		inTransaction((status) -> appendWithin(types));
	}

	void appendWithin(String... types) {
		Outbox outbox = this.context.getBean(Outbox.class);
		for (String type : types) {
			outbox.append(OutboxEvent.of(type, "payload of " + type));
		}
	}

	/**
	 * Commits events to a topic in one transaction.
	 */
	void appendTo(String topic, String... types) {
		inTransaction((status) -> {
			for (String type : types) {
				this.context.getBean(Outbox.class).append(OutboxEvent.of(type, "payload").toTopic(topic));
			}
		});
	}

	/**
	 * Commits ordered events in one transaction.
	 */
	void appendOrdered(String key, String... types) {
		inTransaction((status) -> appendOrderedWithin(key, types));
	}

	void appendOrderedWithin(String key, String... types) {
		for (String type : types) {
			this.context.getBean(Outbox.class).append(OutboxEvent.of(type, "payload").withKey(key));
		}
	}

	/**
	 * Creates a row that counts the events of a key, and that each of their transactions
	 * locks.
	 */
	void createCounter(String key) {
		database().sql("create table if not exists relay_counter (id varchar(10) primary key, number integer)")
			.update();
		database().sql("delete from relay_counter where id = ?").param(key).update();
		database().sql("insert into relay_counter values (?, 0)").param(key).update();
	}

	/**
	 * Commits the next event of a key, whose type is its number.
	 */
	void appendNext(String key) {
		inTransaction((status) -> {
			database().sql("update relay_counter set number = number + 1 where id = ?").param(key).update();
			int number = database().sql("select number from relay_counter where id = ?")
				.param(key)
				.query(Integer.class)
				.single();
			appendOrderedWithin(key, Integer.toString(number));
		});
	}

	/**
	 * Inserts ordered events as left by an instance that crashed while it had leased
	 * them.
	 */
	void leaveBehindOrdered(String key, String... types) {
		for (String type : types) {
			leaveBehind(LaneHash.of(RecordingPublisher.TOPIC, key), key, type, 1);
		}
	}

	/**
	 * Inserts an event as left by an instance that crashed while holding it.
	 * @param attempts how many attempts were started
	 */
	void leaveBehind(String type, int attempts) {
		leaveBehind(LaneHash.of(RecordingPublisher.TOPIC, null), null, type, attempts);
	}

	private void leaveBehind(long lane, @Nullable String key, String type, int attempts) {
		database()
			.sql("insert into relay_event (lane, event_id, topic, event_key, type, payload, attempts, due_at, headers) "
					+ "values (?, ?, ?, ?, ?, ?, ?, timestamp '2001-01-01 00:00:00', '{}')")
			.param(lane)
			.param(UUID.randomUUID())
			.param(RecordingPublisher.TOPIC)
			.param(key)
			.param(type)
			.param(new byte[] { 1 })
			.param(attempts)
			.update();
	}

	int ordered() {
		return count("relay_event where event_key is not null");
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	void inTransaction(Consumer<TransactionStatus> work) {
		new TransactionTemplate(manager()).executeWithoutResult(work);
	}

	/**
	 * How many events lost their lease before they were settled.
	 */
	int lost() {
		return this.context.getBean(Losses.class).lost.get();
	}

	int pending() {
		return count("relay_event");
	}

	/**
	 * How many events wait for another attempt.
	 */
	int waiting() {
		return count("relay_event where last_error is not null");
	}

	int delayed() {
		return count("relay_delayed");
	}

	List<String> dead() {
		return database().sql("select type from relay_dead order by id").query(String.class).list();
	}

	void forgetAll() {
		List.of("relay_event", "relay_delayed", "relay_dead")
			.forEach((table) -> database().sql("delete from " + table).update());
	}

	private int count(String table) {
		return database().sql("select count(*) from " + table).query(Integer.class).single();
	}

	@Override
	public void close() {
		this.context.close();
	}

	static final class Losses implements OutboxObserver {

		private final AtomicInteger lost = new AtomicInteger();

		@Override
		public void published(String publisher, BatchResult batch, Duration took) {
			this.lost.addAndGet(batch.leaseLost());
		}

	}

}
