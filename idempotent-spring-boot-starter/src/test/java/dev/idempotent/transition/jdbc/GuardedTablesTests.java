package dev.idempotent.transition.jdbc;

import javax.sql.DataSource;

import dev.idempotent.transition.jdbc.OrderTable.OrderStatus;
import dev.idempotent.transition.jdbc.TransitionResult.Outcome;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.IncorrectResultSizeDataAccessException;
import org.springframework.dao.TypeMismatchDataAccessException;

import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PAID;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Names of tables and columns, and columns that do not fit.
 */
class GuardedTablesTests {

	private final DataSource dataSource = database();

	private final OrderTable orders = OrderTable.create(this.dataSource, "orders", "bigint");

	@ParameterizedTest
	@ValueSource(strings = { "", "a b", "orders; drop table orders", "orders--", "a.b.c", "1st", "\"a\"b\"", "\"\"",
			"or'ders" })
	void areNotOtherSql(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> builder(name).build())
			.withMessage("'%s' is not a valid name of a table: use letters, digits and underscores, or quote it as in "
					+ "SQL", name);
		assertThatIllegalArgumentException().isThrownBy(() -> builder("orders").id(name).build())
			.withMessageContaining("name of a id column");
		assertThatIllegalArgumentException().isThrownBy(() -> builder("orders").state(name).build())
			.withMessageContaining("name of a state column");
		assertThatIllegalArgumentException().isThrownBy(() -> builder("orders").version(name).build())
			.withMessageContaining("name of a version column");
	}

	@Test
	void differ() {
		assertThatIllegalArgumentException().isThrownBy(() -> builder("orders").state("id").build())
			.withMessage("The columns of id, state and version of orders must differ");
	}

	@Test
	void mayBeQualifiedAndQuoted() {
		this.orders.jdbc().execute("drop table if exists \"the order\"");
		this.orders.jdbc()
			.execute("create table \"the order\" (\"no\" bigint primary key, \"is\" varchar(20), \"at\" bigint)");
		this.orders.jdbc().update("insert into \"the order\" values (1, 'PENDING', 3)");
		GuardedTransitions<OrderStatus> quoted = builder("PUBLIC.\"the order\"").id("\"no\"")
			.state("\"is\"")
			.version("\"at\"")
			.build();
		assertThat(this.orders.inTransaction(() -> quoted.move(1, PENDING, PAID)).orThrow()).isEqualTo(4);
	}

	@Test
	void failIfTheColumnContainsAnotherState() {
		this.orders.insert(1, "LOST");
		assertThatExceptionOfType(TypeMismatchDataAccessException.class)
			.isThrownBy(() -> this.orders.move(1, PENDING, PAID))
			.withMessage("The column status of orders contains 'LOST', which is not a constant of "
					+ OrderStatus.class.getName());
	}

	@Test
	void failIfTheColumnContainsNoVersion() {
		this.orders.insert(1, "PENDING");
		this.orders.jdbc().update("update orders set version = null");
		assertThatExceptionOfType(TypeMismatchDataAccessException.class)
			.isThrownBy(() -> this.orders.move(1, PENDING, PAID))
			.withMessage("The column version of orders is null: make it an integer with 'not null default 0'");
	}

	@Test
	void refuseAnIdOfTwoRows() {
		this.orders.jdbc().execute("alter table orders drop primary key");
		this.orders.insert(1, "PENDING");
		this.orders.insert(1, "PENDING");
		assertThatExceptionOfType(IncorrectResultSizeDataAccessException.class)
			.isThrownBy(() -> this.orders.move(1, PENDING, PAID, 0))
			.withMessage("orders has 2 rows with one id, which needs a unique index");
		assertThatExceptionOfType(IncorrectResultSizeDataAccessException.class)
			.isThrownBy(() -> this.orders.move(1, PENDING, PAID));
	}

	@Test
	void reportTheStateOfAColumnThatPadsIt() {
		this.orders.jdbc().execute("alter table orders alter column status char(10)");
		this.orders.insert(1, "PENDING");
		assertThat(this.orders.move(1, PENDING, PAID).orThrow()).isEqualTo(1);
		assertThat(this.orders.move(1, PENDING, PAID)).isEqualTo(new TransitionResult<>(Outcome.CONFLICT, PAID, 1L));
	}

	private GuardedTransitions.Builder<OrderStatus> builder(String table) {
		return GuardedTransitions.table(this.dataSource, table, OrderStatus.TRANSITIONS);
	}

	private static DataSource database() {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:guarded-names;DB_CLOSE_DELAY=-1");
		return database;
	}

}
