package dev.idempotent.benchmark.outbox;

import java.util.ArrayList;
import java.util.List;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

/**
 * A table and a loop by hand: each thread takes the next row that no other one has
 * locked, does the work and deletes the row, in one transaction. Has neither order, nor
 * attempts, nor a delay after a failure.
 */
final class LoopHandlers extends HandlerContender {

	static final String NAME = "loop";

	private static final String TABLE = "loop_event";

	private static final long PAUSE_MILLIS = 1;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	private final JsonMapper mapper;

	private final int count;

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean stopped;

	LoopHandlers(Servers servers, int threads) {
		super(NAME, TABLE, Shop.open("handlers_" + NAME, servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false"));
		this.jdbc = shop().application().bean(JdbcTemplate.class);
		this.transactions = shop().application().bean(TransactionTemplate.class);
		this.mapper = shop().application().bean(JsonMapper.class);
		this.count = threads;
		this.jdbc.execute("create table " + TABLE + " (id bigserial primary key, payload bytea not null)");
	}

	@Override
	long place() {
		return shop().place((order) -> this.jdbc.update("insert into " + TABLE + " (payload) values (?)",
				this.mapper.writeValueAsBytes(order)));
	}

	@Override
	void startHandling() {
		this.stopped = false;
		for (int i = 0; i < this.count; i++) {
			Thread thread = new Thread(this::handleAll, NAME + "-" + i);
			thread.setDaemon(true);
			this.threads.add(thread);
			thread.start();
		}
	}

	private void handleAll() {
		while (!this.stopped) {
			if (!Boolean.TRUE.equals(this.transactions.execute((status) -> handleNext()))) {
				pause();
			}
		}
	}

	private boolean handleNext() {
		List<Row> next = this.jdbc.query(
				"select id, payload from " + TABLE + " order by id limit 1 for update skip locked",
				(row, number) -> new Row(row.getLong(1), row.getBytes(2)));
		for (Row row : next) {
			booking().book(this.mapper.readValue(row.payload(), OrderPlaced.class));
			this.jdbc.update("delete from " + TABLE + " where id = ?", row.id());
		}
		return !next.isEmpty();
	}

	private static void pause() {
		try {
			Thread.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	void stopHandling() {
		this.stopped = true;
		this.threads.forEach(LoopHandlers::join);
		this.threads.clear();
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void close() {
		stopHandling();
		super.close();
	}

	@SuppressWarnings("ArrayRecordComponent")
	private record Row(long id, byte[] payload) {
	}

	@EnableAutoConfiguration
	@Import(BookingConfiguration.class)
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
