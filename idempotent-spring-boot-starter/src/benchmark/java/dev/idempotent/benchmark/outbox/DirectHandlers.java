package dev.idempotent.benchmark.outbox;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * No outbox: another thread does the work right after the commit, and it is lost if the
 * process dies in between. This is the shortest way from a commit to the work's end.
 */
final class DirectHandlers extends HandlerContender {

	static final String NAME = "direct";

	private final ExecutorService threads;

	private final TransactionTemplate transactions;

	DirectHandlers(Servers servers, int threads) {
		super(NAME, Booking.TABLE, Shop.open("handlers_" + NAME, servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false"));
		this.threads = Executors.newFixedThreadPool(threads);
		this.transactions = shop().application().bean(TransactionTemplate.class);
	}

	@Override
	long place() {
		return shop().place((order) -> {
		});
	}

	@Override
	void committed(long order) {
		this.threads.execute(
				() -> this.transactions.executeWithoutResult((status) -> booking().book(OrderPlaced.numbered(order))));
	}

	@Override
	void startHandling() {
	}

	@Override
	void stopHandling() {
	}

	@Override
	boolean isOutbox() {
		return false;
	}

	@Override
	public void close() {
		this.threads.shutdownNow();
		super.close();
	}

	@EnableAutoConfiguration
	@Import(BookingConfiguration.class)
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
