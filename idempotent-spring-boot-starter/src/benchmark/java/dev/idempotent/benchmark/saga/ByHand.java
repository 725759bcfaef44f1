package dev.idempotent.benchmark.saga;

import java.util.UUID;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The yardstick: three transactions with one row each, or four rows that are committed
 * one by one, without anything that finishes or undoes them.
 */
final class ByHand implements SagaContender {

	private final String name;

	private final Trace trace;

	private final Store store;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	ByHand(String name, Store.Servers servers, Trace trace) {
		this.name = name;
		this.trace = trace;
		this.store = Store.open(name, servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "idempotent.saga.enabled=false");
		this.jdbc = this.store.jdbc();
		this.transactions = this.store.bean(TransactionTemplate.class);
		this.jdbc.execute("create table purchase (id varchar(64) primary key, status text not null)");
		this.jdbc
			.execute("create table purchase_step (id varchar(64), step text, result bytea, primary key (id, step))");
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
				if (this.trace != Trace.NONE) {
					this.jdbc.update("insert into purchase (id, status) values (?, ?) on conflict (id) do update "
							+ "set status = excluded.status", id, step);
				}
				insert();
				if (this.trace == Trace.JOURNAL) {
					this.jdbc.update("insert into purchase_step (id, step, result) values (?, ?, ?)", id, step,
							new byte[] { 1 });
				}
			});
		}
		if (this.trace == Trace.JOURNAL) {
			this.jdbc.update("update purchase set status = 'done' where id = ?", id);
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
		this.store.database().sql().execute("truncate table work, purchase, purchase_step");
		this.store.database().tidy();
	}

	@Override
	public void close() {
		this.store.close();
	}

	/**
	 * What each transaction leaves behind beside its row.
	 */
	enum Trace {

		/**
		 * Nothing.
		 */
		NONE,

		/**
		 * A row by which unfinished work could be found.
		 */
		STATUS,

		/**
		 * That row, locked before the work, and the result of each step behind it: the
		 * round trips and commits of a saga, without its conditions.
		 */
		JOURNAL

	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
