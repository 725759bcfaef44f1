package dev.idempotent.idempotency.claim;

import java.lang.reflect.Method;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;

/**
 * Knows in which transactions the methods of an application run.
 */
public interface IdempotencyTransactionSource {

	/**
	 * Finds the transactions for a method that begins one of its own, with the attributes
	 * that it states itself.
	 * @param type the class that has the method
	 * @param method the method
	 * @return its transactions
	 * @throws IdempotentConfigurationException if it cannot have
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions transactionsOf(Class<?> type, Method method);

	/**
	 * Finds the transactions for a method that takes part in one of its caller: those
	 * that are open when it is called, or new ones.
	 * @param type the class that has the method
	 * @param method the method
	 * @return its transactions
	 * @throws IdempotentConfigurationException if it cannot have
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions joiningTransactionsOf(Class<?> type, Method method);

	/**
	 * Finds the transactions for code that takes part in one of its caller.
	 * @param described what the code does, for messages
	 * @return its transactions
	 * @throws IdempotentConfigurationException if it cannot have
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions joiningTransactions(String described);

}
