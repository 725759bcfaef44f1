package dev.idempotent.benchmark.saga;

import java.util.UUID;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The yardstick: three transactions with one row each, or four rows that are committed
 * one by one, without anything that finishes or undoes them. With a status, each
 * transaction also writes a row by which unfinished work could be found.
 */
final class ByHand implements SagaContender {

	private final String name;

	private final boolean status;

	private final Store store;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	ByHand(String name, Store.Servers servers, boolean status) {
		this.name = name;
		this.status = status;
		this.store = Store.open(name, servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "idempotent.saga.enabled=false");
		this.jdbc = this.store.jdbc();
		this.transactions = this.store.bean(TransactionTemplate.class);
		this.jdbc.execute("create table purchase (id varchar(64) primary key, status text not null)");
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public void transactions() {
		String id = UUID.randomUUID().toString();
		for (String step : OwnSagas.STEPS) {
			this.transactions.executeWithoutResult((transaction) -> {
				if (this.status) {
					this.jdbc.update("insert into purchase (id, status) values (?, ?) on conflict (id) do update "
							+ "set status = excluded.status", id, step);
				}
				insert();
			});
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
		this.store.database().sql().execute("truncate table work, purchase");
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
