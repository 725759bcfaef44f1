package dev.idempotent.advice;

/**
 * Where advice sits among the other advice of a bean.
 */
public enum AdvicePlacement {

	/**
	 * Directly outside the transaction, so that it sees the commit, but never outside
	 * method security. Innermost where the bean has no transactional advice.
	 */
	AROUND_TRANSACTION,

	/**
	 * Next to the bean's own method, within its transaction.
	 */
	INNERMOST

}
