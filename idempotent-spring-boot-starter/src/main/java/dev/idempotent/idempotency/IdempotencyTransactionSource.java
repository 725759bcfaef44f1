package dev.idempotent.idempotency;

import java.lang.reflect.Method;

/**
 * Knows in which transactions the methods of an application run.
 */
public interface IdempotencyTransactionSource {

	/**
	 * Finds the transactions for a method, with the attributes that it states itself.
	 * @param type the class that has the method
	 * @param method the method
	 * @return its transactions
	 * @throws IdempotencyConfigurationException if it cannot have
	 * {@link Guarantee#TRANSACTION}
	 */
	IdempotencyTransactions transactionsOf(Class<?> type, Method method);

}
