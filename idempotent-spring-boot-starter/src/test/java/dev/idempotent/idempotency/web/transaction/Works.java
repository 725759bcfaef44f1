package dev.idempotent.idempotency.web.transaction;

import java.io.EOFException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.stereotype.Component;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.server.ResponseStatusException;

/**
 * Work that inserts a row with the name in the request.
 */
@Component
class Works {

	private static final String SCHEMA = """
			create table if not exists work (name varchar(100) not null, item varchar(100) unique);
			""";

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	Works(DataSource dataSource) {
		new ResourceDatabasePopulator(new ByteArrayResource(SCHEMA.getBytes(StandardCharsets.UTF_8)))
			.execute(dataSource);
		this.dataSource = dataSource;
		this.jdbc = new JdbcTemplate(dataSource);
	}

	void write(String name) {
		this.jdbc.update("insert into work (name) values (?)", name);
	}

	void writeItem(String name, String item) {
		this.jdbc.update("insert into work (name, item) values (?, ?)", name, item);
	}

	/**
	 * The remaining time of the transaction.
	 */
	int secondsLeft() {
		return ((ConnectionHolder) TransactionSynchronizationManager.getResource(this.dataSource))
			.getTimeToLiveInSeconds();
	}

	int count(String name) {
		return this.jdbc.queryForObject("select count(*) from work where name = ?", Integer.class, name);
	}

	/**
	 * Transactional services that fail when a handler calls them.
	 */
	@Component
	static class Troubled {

		private final Works works;

		private final Troubled self;

		Troubled(Works works, @Lazy Troubled self) {
			this.works = works;
			this.self = self;
		}

		/**
		 * Spring commits a transaction that ends with this exception.
		 */
		@Transactional
		ResponseEntity<?> throwChecked(String name) throws CheckedException {
			this.works.write(name);
			throw new CheckedException();
		}

		@Transactional(noRollbackFor = DeclinedException.class)
		ResponseEntity<?> throwDespite(String name) {
			this.works.write(name);
			throw new DeclinedException();
		}

		ResponseEntity<?> throwStatus(int status) {
			throw new ResponseStatusException(HttpStatusCode.valueOf(status), "As it was asked to");
		}

		/**
		 * The exception of a crashed database, with the cause of a disconnected client.
		 */
		ResponseEntity<?> loseConnection() {
			throw new CannotCreateTransactionException("No connection", new SQLException(new EOFException()));
		}

		ResponseEntity<?> loseConnectionAtCommit() {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void beforeCommit(boolean readOnly) {
					throw new UncheckedIOException(new EOFException());
				}
			});
			return ResponseEntity.status(201).build();
		}

		/**
		 * A part that has joined the transaction fails silently.
		 */
		ResponseEntity<?> swallowed(Supplier<ResponseEntity<?>> answer) {
			try {
				this.self.fail();
			}
			catch (IllegalStateException ex) {
				// The handler ignores the failure.
			}
			return answer.get();
		}

		@Transactional
		void fail() {
			throw new IllegalStateException("A part of the work went wrong");
		}

		ResponseEntity<?> failAfterCommit(int run) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCommit() {
					throw new IllegalStateException("After the commit");
				}
			});
			return ResponseEntity.status(201).body(Map.of("run", run));
		}

		ResponseEntity<?> failBeforeCommit() {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void beforeCommit(boolean readOnly) {
					throw new DeclinedException();
				}
			});
			return ResponseEntity.status(201).build();
		}

		ResponseEntity<?> suspended(String name) {
			this.self.writeApart(name + "-apart");
			throw new DeclinedException();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void writeApart(String name) {
			this.works.write(name);
		}

		ResponseEntity<?> reading(String name, int run) {
			return ResponseEntity.status(201).body(Map.of("run", run, "rows", this.self.count(name)));
		}

		@Transactional(readOnly = true)
		int count(String name) {
			return this.works.count(name);
		}

		static final class CheckedException extends Exception {

		}

		static final class DeclinedException extends RuntimeException {

		}

	}

}
