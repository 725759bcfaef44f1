package dev.idempotent.autoconfigure.operations;

/**
 * An operator's request that cannot be meant like that.
 */
final class OutboxRequestException extends RuntimeException {

	private final String problem;

	private final String action;

	/**
	 * States the mistake and its mend.
	 * @param problem what is wrong; without what the request said
	 * @param action what to do
	 */
	OutboxRequestException(String problem, String action) {
		super(problem);
		this.problem = problem;
		this.action = action;
	}

	@Override
	public String getMessage() {
		return this.problem;
	}

	String action() {
		return this.action;
	}

}
