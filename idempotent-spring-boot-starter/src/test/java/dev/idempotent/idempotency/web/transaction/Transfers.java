package dev.idempotent.idempotency.web.transaction;

import java.util.Map;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.Gate;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Lazy;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Transfers of two halves that catch database exceptions in between and continue.
 */
@RestController
class Transfers {

	private final JdbcTemplate jdbc;

	private final Transfers self;

	private volatile @Nullable Gate gate;

	Transfers(JdbcTemplate jdbc, @Lazy Transfers self) {
		this.jdbc = jdbc;
		this.self = self;
		jdbc.execute("drop table if exists transfer");
		jdbc.execute("create table transfer (name varchar(100), half varchar(100))");
		jdbc.execute("drop table if exists account");
		jdbc.execute("create table account (id varchar(10) primary key, n int)");
		jdbc.execute("insert into account values ('a', 0), ('b', 0)");
	}

	/**
	 * Lets each transfer stop between its halves until the gate opens, and then touch the
	 * other account.
	 */
	void holdUpAt(@Nullable Gate closed) {
		this.gate = closed;
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/transfers/handler")
	ResponseEntity<?> inHandler(@RequestParam String name) {
		debit(name);
		return goOn(name);
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/transfers/listener")
	ResponseEntity<?> inListener(@RequestParam String name) {
		debit(name);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void beforeCommit(boolean readOnly) {
				goOn(name);
			}
		});
		return ResponseEntity.status(201).body(Map.of("done", name));
	}

	@PostMapping("/transfers/method")
	ResponseEntity<?> inMethod(@RequestParam String name) {
		this.self.transfer(name);
		return ResponseEntity.status(201).build();
	}

	@PostMapping("/transfers/caller")
	ResponseEntity<?> inCaller(@RequestParam String name) {
		this.self.callAndGoOn(name);
		return ResponseEntity.status(201).build();
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/transfers/ddl")
	ResponseEntity<?> withDdl(@RequestParam String name) {
		debit(name);
		this.jdbc.execute("create table if not exists commits_implicitly (id int)");
		return goOn(name);
	}

	@Transactional
	@Idempotent(key = "#name", guarantee = Guarantee.TRANSACTION, name = "transfers.transfer")
	public String transfer(String name) {
		debit(name);
		goOn(name);
		return name;
	}

	@Transactional
	public void callAndGoOn(String name) {
		this.self.debitOnce(name);
		goOn(name);
	}

	@Transactional
	@Idempotent(key = "#name", guarantee = Guarantee.TRANSACTION, name = "transfers.debit-once")
	public String debitOnce(String name) {
		debit(name);
		return name;
	}

	private void debit(String name) {
		this.jdbc.update("insert into transfer values (?, 'debit')", name);
		this.jdbc.update("update account set n = n + 1 where id = 'a'");
	}

	private ResponseEntity<?> goOn(String name) {
		try {
			stumble();
		}
		catch (PessimisticLockingFailureException ex) {
			// The transfer ignores the failure.
		}
		this.jdbc.update("insert into transfer values (?, 'credit')", name);
		return ResponseEntity.status(201).body(Map.of("done", name));
	}

	private void stumble() {
		Gate closed = this.gate;
		if (closed == null) {
			return;
		}
		try {
			closed.pass();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		this.jdbc.update("update account set n = n + 1 where id = 'b'");
	}

}
