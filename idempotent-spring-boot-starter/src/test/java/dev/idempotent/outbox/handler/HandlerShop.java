package dev.idempotent.outbox.handler;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.jdbc.LaneHash;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An instance of an application with handlers that count what they do by rows without a
 * unique constraint.
 */
final class HandlerShop implements AutoCloseable {

	static final String[] SELDOM = { "idempotent.outbox.relay.scan-interval=1h" };

	static final String[] OFTEN = { "idempotent.outbox.relay.scan-interval=20ms",
			"idempotent.outbox.relay.backoff=20ms" };

	private final ConfigurableApplicationContext context;

	private HandlerShop(ConfigurableApplicationContext context) {
		this.context = context;
		jdbc().execute("create table if not exists handler_work (handler varchar(100), content varchar(100))");
	}

	static HandlerShop open(List<String> database, String[] relay, List<Class<?>> more, String... properties) {
		List<String> all = new ArrayList<>(database);
		all.add("idempotent.outbox.table-prefix=handler_");
		all.addAll(Arrays.asList(relay));
		all.addAll(Arrays.asList(properties));
		List<Class<?>> beans = new ArrayList<>(more);
		beans.addAll(List.of(Handlers.class, Losses.class));
		return new HandlerShop(OutboxApplication.start(all, beans.toArray(Class<?>[]::new)));
	}

	Handlers handlers() {
		return this.context.getBean(Handlers.class);
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	OutboxRelay relay() {
		return this.context.getBean(OutboxRelay.class);
	}

	JdbcTemplate jdbc() {
		return this.context.getBean(JdbcTemplate.class);
	}

	TransactionTemplate newTransaction() {
		TransactionTemplate template = new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return template;
	}

	/**
	 * Commits events in one transaction.
	 */
	void append(OutboxEvent... events) {
		newTransaction()
			.executeWithoutResult((status) -> this.context.getBean(Outbox.class).append(Arrays.asList(events)));
	}

	static OutboxEvent event(String type, String id) {
		return OutboxEvent.of(type, new Order(id)).toTopic("handlers");
	}

	/**
	 * Inserts an event as an instance has left it that crashed while it had claimed it.
	 */
	void leaveBehind(String topic, @Nullable String key, String payload, int attempts) {
		jdbc().update(
				"insert into handler_event (lane, event_id, topic, event_key, type, payload, attempts, due_at, headers) "
						+ "values (?, ?, ?, ?, 'left', ?, ?, timestamp '2001-01-01 00:00:00', '{}')",
				LaneHash.of(topic, key), UUID.randomUUID(), topic, key, payload.getBytes(StandardCharsets.UTF_8),
				attempts);
	}

	List<String> work(String handler) {
		return jdbc().queryForList("select content from handler_work where handler = ? order by content", String.class,
				handler);
	}

	int rows() {
		return jdbc().queryForList("select id from handler_event", Long.class).size();
	}

	int rowsOf(String topic) {
		return jdbc().queryForList("select id from handler_event where topic = ?", Long.class, topic).size();
	}

	List<Map<String, Object>> dead() {
		return jdbc().queryForList("select type, topic, last_error, attempts from handler_dead order by id");
	}

	List<Map<String, Object>> waiting() {
		return jdbc().queryForList("select type, topic, last_error, attempts from handler_event order by id");
	}

	void forgetAll() {
		List.of("handler_event", "handler_delayed", "handler_dead", "handler_control", "handler_work")
			.forEach((table) -> jdbc().update("delete from " + table));
	}

	/**
	 * How many events lost their lease before they were settled.
	 */
	int lost() {
		return this.context.getBean(Losses.class).lost.get();
	}

	@Override
	public void close() {
		this.context.close();
	}

	record Order(String id) {

	}

	static class Handlers {

		private final JdbcTemplate jdbc;

		private volatile Consumer<String> booking = (id) -> {
		};

		private volatile Consumer<String> mailing = (id) -> {
		};

		private final List<Map<String, String>> headers = new CopyOnWriteArrayList<>();

		Handlers(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "order.placed", name = "book")
		void book(Order order) {
			work("book", order.id());
			this.booking.accept(order.id());
		}

		@OutboxHandler(type = "order.placed", name = "audit")
		void audit(Map<String, String> headers) {
			this.headers.add(headers);
			work("audit", headers.getOrDefault("ce_type", "none"));
		}

		@OutboxHandler(type = "order.shipped", name = "mail", transactional = false)
		void mail(Order order) {
			this.mailing.accept(order.id());
			work("mail", order.id());
		}

		void work(String handler, String content) {
			this.jdbc.update("insert into handler_work values (?, ?)", handler, content);
		}

		/**
		 * What the handler {@code book} does within its transaction.
		 */
		void whenBooking(Consumer<String> step) {
			this.booking = step;
		}

		void whenMailing(Consumer<String> step) {
			this.mailing = step;
		}

		List<Map<String, String>> headers() {
			return this.headers;
		}

	}

	static final class Losses implements OutboxObserver {

		private final AtomicInteger lost = new AtomicInteger();

		@Override
		public void published(String publisher, BatchResult batch, Duration took) {
			this.lost.addAndGet(batch.leaseLost());
		}

	}

}
