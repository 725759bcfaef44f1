package dev.idempotent.saga.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.engine.FailureClassifier;
import dev.idempotent.saga.engine.SagaDefinition;
import dev.idempotent.saga.engine.SagaEngine;
import dev.idempotent.saga.engine.SagaSettings;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Sagas whose statements and commits are recorded.
 */
abstract class AbstractSagaStatementsTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final IdempotencyKey id = Samples.key();

	private SagaRows rows;

	private SagaEngine engine;

	private SagaSteps saga;

	private JdbcTemplate work;

	StatementLog log;

	abstract SagaRows rows();

	@BeforeEach
	void create() {
		this.rows = rows();
		this.rows.clear();
		this.rows.template().execute("create table if not exists logged_work (name varchar(100))");
		this.rows.template().update("delete from logged_work");
		this.log = new StatementLog(this.rows.dataSource());
		this.work = new JdbcTemplate(this.log);
		this.engine = new SagaEngine(
				new JdbcSagaStore(new OwnTransactions(this.log), this.rows.tables().prefix(), MINUTE,
						Duration.ofMinutes(10)),
				new DataSourceTransactionManager(this.log), new SagaSettings("process", MINUTE, MINUTE, 3, 1,
						Duration.ZERO, MINUTE, MINUTE, Duration.ofHours(1), null),
				new FailureClassifier(), PayloadEncryption.NONE, List.of());
		this.saga = this.engine.steps();
	}

	@Test
	void commitsOnceMoreThanItCalls() throws Throwable {
		call(this::threeCalls);
		assertThat(this.log.take()).filteredOn("commit"::equals).hasSize(4);
	}

	@Test
	void commitsOnceMoreThanItRunsTransactions() throws Throwable {
		call(this::threeTransactions);
		assertThat(this.log.take()).filteredOn("commit"::equals).hasSize(4);
	}

	@Test
	void readsNothingInItsFirstRun() throws Throwable {
		call(this::threeCalls);
		assertThat(this.log.take()).noneMatch((statement) -> statement.startsWith("select"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "first", "next", "undo" })
	void commitsNothingOfAStepThatRollsItsConnectionBackAndGoesOn(String step) {
		assertThatExceptionOfType(
				step.equals("first") ? CannotAcquireLockException.class : IdempotencyPendingException.class)
			.isThrownBy(() -> call(() -> rollingBackIn(step)));
		assertThat(this.work.queryForList("select name from logged_work where name = 'remainder'")).isEmpty();
		assertThat(this.rows.template()
			.queryForList("select state from " + this.rows.tables().step() + " where name = 'rolled back'",
					String.class))
			.isEqualTo(step.equals("undo") ? List.of("DONE") : List.of());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void undoesNothingAfterAStepThatCommitsItsConnectionAndFails(boolean first) {
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(() -> {
			if (!first) {
				this.saga.step("before").compensate(() -> insert("undo")).runInTransaction(() -> insert("before"));
			}
			this.saga.step("committed").runInTransaction(() -> {
				insert("part");
				this.work.execute((Connection connection) -> {
					connection.commit();
					return connection;
				});
				throw new IllegalStateException("declined");
			});
			return "unreachable";
		}));
		assertThat(this.work.queryForList("select name from logged_work order by name", String.class))
			.isEqualTo(first ? List.of("part") : List.of("before", "part"));
		assertThat(this.rows.template()
			.queryForObject("select halt_reason from " + this.rows.tables().instance(), String.class))
			.contains("'committed'", "commit()");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void neitherEntersNorRefusesAStepThatCannotBeWritten(int step) {
		String table = "alter table " + this.rows.tables().instance();
		this.rows.template().execute(table + " add constraint unwritable check (steps < " + step + ")");
		try {
			assertThatExceptionOfType(
					(step == 1) ? DataIntegrityViolationException.class : IdempotencyPendingException.class)
				.isThrownBy(() -> call(this::threeTransactions));
		}
		finally {
			this.rows.template().execute(table + " drop constraint unwritable");
		}
		assertThat(this.work.queryForList("select name from logged_work")).hasSize(step - 1);
	}

	final @Nullable Object call(Supplier<String> body) throws Throwable {
		return this.engine.call(new Lambda(body), this.id, Samples.fingerprint("order"),
				"[]".getBytes(StandardCharsets.UTF_8));
	}

	final SagaSteps steps() {
		return this.saga;
	}

	final void becomeDue() {
		this.rows.pass(Duration.ofSeconds(30));
	}

	final String threeTransactions() {
		for (String name : List.of("one", "two", "three")) {
			this.saga.step(name).runInTransaction(() -> insert(name));
		}
		return "done";
	}

	final String threeCalls() {
		for (String name : List.of("one", "two", "three")) {
			this.saga.step(name).run(() -> {
			});
		}
		return "done";
	}

	final String compensated() {
		this.saga.step("order")
			.compensate(() -> this.work.update("delete from logged_work where name = ?", "order"))
			.runInTransaction(() -> insert("order"));
		this.saga.step("charge").compensate(() -> {
		}).run(() -> {
		});
		throw new IllegalStateException("declined");
	}

	final String interrupted() {
		this.saga.step("one").run(() -> {
		});
		this.saga.step("two").run(() -> {
			throw new IllegalStateException("no answer");
		});
		return "unreachable";
	}

	private String rollingBackIn(String step) {
		if (step.equals("next")) {
			this.saga.step("before").runInTransaction(() -> insert("before"));
		}
		this.saga.step("rolled back")
			.compensate(this::rollBackAndGoOn)
			.runInTransaction(step.equals("undo") ? () -> insert("whole") : this::rollBackAndGoOn);
		throw new IllegalStateException("declined");
	}

	private void rollBackAndGoOn() {
		insert("beginning");
		this.work.execute((Connection connection) -> {
			connection.rollback();
			return connection;
		});
		insert("remainder");
	}

	private void insert(String name) {
		this.work.update("insert into logged_work (name) values (?)", name);
	}

	private record Lambda(Supplier<String> body) implements SagaDefinition {

		@Override
		public String name() {
			return "checkout";
		}

		@Override
		public Duration timeout() {
			return MINUTE;
		}

		@Override
		public @Nullable Object run(byte[] arguments) {
			return this.body.get();
		}

		@Override
		public byte[] writeResult(@Nullable Object result) {
			return String.valueOf(result).getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public @Nullable Object readResult(byte[] stored) {
			return new String(stored, StandardCharsets.UTF_8);
		}

		/**
		 * Its steps have no results.
		 */
		@Override
		public byte[] writeStepResult(Type type, @Nullable Object result) {
			return "null".getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public @Nullable Object readStepResult(Type type, byte[] stored) {
			return null;
		}

	}

	/**
	 * A data source that records the statements, commits and settings of its connections.
	 */
	static final class StatementLog extends DelegatingDataSource {

		private static final Pattern ACCESS = Pattern.compile("(insert into|update|delete from|from) logged_(\\w+)");

		private final List<String> sent = new ArrayList<>();

		StatementLog(DataSource dataSource) {
			super(dataSource);
		}

		/**
		 * Returns what was sent since the last call.
		 */
		List<String> take() {
			List<String> taken = List.copyOf(this.sent);
			this.sent.clear();
			return taken;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return proxy(Connection.class, connection, (name, arguments, result) -> switch (name) {
				case "commit", "rollback", "setTransactionIsolation" -> {
					this.sent.add(name);
					yield result;
				}
				case "prepareStatement" -> recorded(connection, (PreparedStatement) result, (String) arguments[0]);
				default -> result;
			});
		}

		private PreparedStatement recorded(Connection connection, PreparedStatement statement, String sql) {
			return proxy(PreparedStatement.class, statement, (name, arguments, result) -> {
				if (name.startsWith("execute")) {
					this.sent.add(summary(sql));
					if (connection.getAutoCommit()) {
						this.sent.add("commit");
					}
				}
				return result;
			});
		}

		/**
		 * The tables that a statement writes, or else those that it reads.
		 */
		private static String summary(String sql) {
			List<MatchResult> accesses = ACCESS.matcher(sql).results().toList();
			String writes = accesses.stream()
				.filter((access) -> !access.group(1).equals("from"))
				.map((access) -> access.group(1).replaceAll(" .*", "") + " " + access.group(2))
				.collect(Collectors.joining(", "));
			return !writes.isEmpty() ? writes
					: accesses.stream().map((access) -> "select " + access.group(2)).findFirst().orElse(sql);
		}

		private static <T> T proxy(Class<T> type, T target, Listener listener) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(proxy, method, arguments) -> {
						try {
							return listener.heard(method.getName(), arguments, method.invoke(target, arguments));
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					}));
		}

		private interface Listener {

			Object heard(String name, Object[] arguments, Object result) throws SQLException;

		}

	}

}
