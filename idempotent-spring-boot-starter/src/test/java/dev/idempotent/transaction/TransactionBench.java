package dev.idempotent.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs work in transactions of one manager, and compares what the participants were told
 * with what another connection sees.
 */
final class TransactionBench {

	private final ObservedDatabase database;

	private final Entry entry;

	private final AbstractPlatformTransactionManager manager;

	private final DataSource dataSource;

	private PlatformTransactionManager called;

	TransactionBench(ObservedDatabase database, Manager manager, Entry entry) {
		this.database = database;
		this.entry = entry;
		this.manager = switch (manager) {
			case DATA_SOURCE -> new DataSourceTransactionManager(database.dataSource());
			case JDBC -> new JdbcTransactionManager(database.dataSource());
			case JPA -> new JpaTransactionManager(database.factory());
			case JTA_LIKE -> new JtaLikeTransactionManager(database.dataSource());
		};
		this.dataSource = (this.manager instanceof JtaLikeTransactionManager jta) ? jta.dataSource()
				: database.dataSource();
		TransactionGuard.watch(this.manager);
		this.called = this.manager;
	}

	/**
	 * Has the manager not tell of its transactions, as one that is not a bean.
	 */
	TransactionBench unwatched() {
		this.manager.setTransactionExecutionListeners(List.of());
		return this;
	}

	/**
	 * Has the manager called through another one.
	 */
	TransactionBench through(UnaryOperator<PlatformTransactionManager> wrapper) {
		this.called = wrapper.apply(this.called);
		return this;
	}

	AbstractPlatformTransactionManager manager() {
		return this.manager;
	}

	/**
	 * Runs work in a transaction, and what follows on the thread.
	 */
	Outcome run(Consumer<Work> body) {
		Work work = work();
		RuntimeException failure = null;
		try {
			if (this.entry == Entry.OWN) {
				inScope(work, TransactionDefinition.PROPAGATION_REQUIRED, body);
			}
			else {
				new TransactionTemplate(this.called).executeWithoutResult((status) -> body.accept(work));
			}
		}
		catch (RuntimeException ex) {
			failure = ex;
		}
		return outcome(work, failure);
	}

	Work work() {
		return new Work(this.database, this.dataSource, this.entry != Entry.JOINED_ELSEWHERE
				&& !(this.entry == Entry.OWN && this.manager instanceof JtaLikeTransactionManager));
	}

	/**
	 * Runs work in a scope of the library, within what the thread is in.
	 */
	void inScope(Work work, int propagation, Consumer<Work> body) {
		TransactionScope scope = TransactionScope.begin(this.called, new DefaultTransactionDefinition(propagation));
		work.scope = scope;
		work.transaction = scope.transaction();
		try {
			body.accept(work);
		}
		catch (RuntimeException | Error ex) {
			scope.rollback();
			throw ex;
		}
		scope.commit();
	}

	/**
	 * Looks at the thread and at the database.
	 */
	Outcome outcome(Work work, @Nullable RuntimeException failure) {
		List<Object> left = new ArrayList<>(TransactionSynchronizationManager.getResourceMap().values());
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			left.add("synchronizations");
		}
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			left.add("a transaction");
		}
		if (this.manager instanceof JtaLikeTransactionManager jta && jta.isOpen()) {
			left.add("a transaction of JTA");
		}
		return new Outcome(this, work, failure, left, this.database.rows(work.id), this.database.open());
	}

	/**
	 * What the library must not leave to the next transaction.
	 */
	private void requireNextTransaction() {
		Work next = work();
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> next.write());
		assertThat(this.database.rows(next.id)).isOne();
	}

	enum Manager {

		DATA_SOURCE, JDBC, JPA, JTA_LIKE

	}

	/**
	 * How the library comes into the transaction.
	 */
	enum Entry {

		/**
		 * It has begun it.
		 */
		OWN,

		/**
		 * A caller has begun it, and the participant names its data source.
		 */
		JOINED,

		/**
		 * The same, and the participant writes elsewhere.
		 */
		JOINED_ELSEWHERE

	}

	/**
	 * A participant that writes rows and keeps what it is told.
	 */
	static final class Work implements TransactionParticipant {

		private final String id = UUID.randomUUID().toString();

		private final ObservedDatabase database;

		private final DataSource dataSource;

		private final boolean named;

		private final JdbcTemplate jdbc;

		private final List<End> told = new ArrayList<>();

		private @Nullable TransactionScope scope;

		private @Nullable ObservedTransaction transaction;

		private BooleanSupplier confirmation = () -> true;

		private int written;

		private int undone;

		private int completing;

		private int committed;

		Work(ObservedDatabase database, DataSource dataSource, boolean named) {
			this.database = database;
			this.dataSource = dataSource;
			this.named = named;
			this.jdbc = new JdbcTemplate(dataSource);
		}

		String id() {
			return this.id;
		}

		JdbcTemplate jdbc() {
			return this.jdbc;
		}

		List<End> told() {
			return this.told;
		}

		int undoneCalls() {
			return this.undone;
		}

		int committedCalls() {
			return this.committed;
		}

		int completingCalls() {
			return this.completing;
		}

		/**
		 * That of the scope, or that which is observed from now on.
		 */
		ObservedTransaction transaction() {
			ObservedTransaction known = this.transaction;
			if (known == null) {
				known = Objects.requireNonNull(ObservedTransaction.current());
				this.transaction = known;
			}
			return known;
		}

		Work write() {
			return write(this.written);
		}

		Work write(int n) {
			this.jdbc.update("insert into observed_row values (?, ?)", this.id, n);
			this.written++;
			return this;
		}

		/**
		 * A row was written elsewhere.
		 */
		void written() {
			this.written++;
		}

		Work participate() {
			transaction().add(this, this.named ? this.dataSource : null);
			return this;
		}

		Work writeLast() {
			transaction().lastStatement(this::write);
			return this;
		}

		/**
		 * Participates, writes a row, and another one with its last statement.
		 */
		void writeAll() {
			participate().write().writeLast();
		}

		/**
		 * Confirms only if all rows are there.
		 */
		Work confirmRows() {
			this.confirmation = () -> {
				Integer rows = this.jdbc.queryForObject("select count(*) from observed_row where work = ?",
						Integer.class, this.id);
				return rows != null && rows == this.written;
			};
			return this;
		}

		/**
		 * Expects that another connection sees what was told.
		 */
		void requireTruth() {
			int rows = this.database.rows(this.id);
			assertThat(this.told).hasSizeLessThanOrEqualTo(1);
			if (this.told.contains(End.COMMITTED)) {
				assertThat(rows).as("rows that are told to be committed").isEqualTo(this.written);
			}
			else if (this.told.contains(End.ROLLED_BACK)) {
				assertThat(rows).as("rows that are told to be rolled back").isZero();
			}
		}

		@Override
		public Runnable savepoint() {
			int then = this.written;
			return () -> this.written = then;
		}

		@Override
		public void undone() {
			this.undone++;
		}

		@Override
		public void completing() {
			this.completing++;
		}

		@Override
		public boolean confirm() {
			return this.confirmation.getAsBoolean();
		}

		@Override
		public void committed() {
			this.committed++;
		}

		@Override
		public void ended(End end) {
			this.told.add(end);
		}

	}

	/**
	 * How a transaction has ended.
	 *
	 * @param left what the thread is still bound to
	 * @param rows those that another connection sees
	 * @param open how many connections were not given back
	 */
	record Outcome(TransactionBench bench, Work work, @Nullable RuntimeException failure, List<Object> left, int rows,
			int open) {

		/**
		 * Expects that the participant and who asks are told the end, that this is true,
		 * and that the thread goes on.
		 */
		Outcome tells(End end) {
			assertThat(this.left).as("what is left on the thread").isEmpty();
			this.bench.requireNextTransaction();
			return tellsAtLeast(end);
		}

		/**
		 * The same, but the manager does not end its transaction.
		 */
		Outcome tellsAtLeast(End end) {
			this.work.requireTruth();
			assertThat(this.work.told).as("what the participant was told").containsExactly(end);
			assertThat(this.work.transaction().end()).as("what the transaction tells").isEqualTo(end);
			if (this.work.scope != null) {
				assertThat(this.work.scope.end()).as("what the scope tells").isEqualTo(end);
			}
			return this;
		}

		void leavesAll() {
			assertThat(this.rows).as("rows").isEqualTo(this.work.written).isPositive();
		}

		void leavesNone() {
			assertThat(this.rows).as("rows").isZero();
		}

		Outcome fails(@Nullable RuntimeException expected) {
			assertThat(this.failure).isSameAs(expected);
			return this;
		}

		Outcome fails() {
			assertThat(this.failure).isNotNull();
			return this;
		}

		Outcome succeeds() {
			assertThat(this.failure).isNull();
			return this;
		}

	}

}
