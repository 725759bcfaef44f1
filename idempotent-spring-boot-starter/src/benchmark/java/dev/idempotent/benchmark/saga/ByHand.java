package dev.idempotent.benchmark.saga;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The yardstick: three transactions with one row each, or four rows that are committed
 * one by one, without anything that finishes or undoes them.
 */
final class ByHand implements SagaContender {

	private final Store store;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	ByHand(Store.Servers servers) {
		this.store = Store.open("hand", servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "idempotent.saga.enabled=false");
		this.jdbc = this.store.jdbc();
		this.transactions = this.store.bean(TransactionTemplate.class);
	}

	@Override
	public String name() {
		return "hand";
	}

	@Override
	public void transactions() {
		for (int i = 0; i < 3; i++) {
			this.transactions.executeWithoutResult((status) -> insert());
		}
	}

	@Override
	public void calls() {
		for (int i = 0; i < 4; i++) {
			insert();
		}
	}

	private void insert() {
		this.jdbc.update(Store.INSERT, "step", 1);
	}

	@Override
	public void tidy() {
		this.store.database().sql().execute("truncate table work");
		this.store.database().tidy();
	}

	@Override
	public void close() {
		this.store.close();
	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
