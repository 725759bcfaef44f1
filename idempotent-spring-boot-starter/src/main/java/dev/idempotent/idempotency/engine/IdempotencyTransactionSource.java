package dev.idempotent.idempotency.engine;

import java.lang.reflect.Method;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStore;

/**
 * Finds the transactions in which the methods of an application run.
 */
public interface IdempotencyTransactionSource {

	/**
	 * Finds the transactions of a method that begins its own, with its own transaction
	 * attributes.
	 * @param type the target class
	 * @param method the method
	 * @return its transactions
	 * @throws IdempotentConfigurationException if it does not support
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions transactionsOf(Class<?> type, Method method);

	/**
	 * Finds the transactions of a method that joins the transaction of its caller, or
	 * begins one if there is none.
	 * @param type the target class
	 * @param method the method
	 * @return its transactions
	 * @throws IdempotentConfigurationException if it does not support
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions joiningTransactionsOf(Class<?> type, Method method);

	/**
	 * Finds the transactions of code that joins the transaction of its caller, or begins
	 * one if there is none.
	 * @param described describes the code in messages
	 * @return its transactions
	 * @throws IdempotentConfigurationException if it does not support
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions joiningTransactions(String described);

	/**
	 * Returns whether the transactions are those of a database.
	 * @return {@code false} in a test without one
	 */
	default boolean isTransactional() {
		return true;
	}

	/**
	 * The committed records of all transactions that were found so far, for operators.
	 * @return one store for each database
	 */
	default List<IdempotencyStore> records() {
		return List.of();
	}

}
