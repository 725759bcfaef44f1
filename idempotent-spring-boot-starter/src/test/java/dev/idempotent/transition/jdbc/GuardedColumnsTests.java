package dev.idempotent.transition.jdbc;

import dev.idempotent.transition.jdbc.TransitionResult.Outcome;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.dao.IncorrectResultSizeDataAccessException;

import static dev.idempotent.transition.jdbc.OrderStatus.PAID;
import static dev.idempotent.transition.jdbc.OrderStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Moves of rows in tables with unusual columns.
 */
class GuardedColumnsTests {

	private final OrderTable orders = OrderTable.create(database(), "orders", "bigint");

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

	private static JdbcDataSource database() {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:guarded-columns;DB_CLOSE_DELAY=-1");
		return database;
	}

}
