package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Records what it observes.
 */
public final class RecordingObserver implements IdempotencyObserver {

	private final List<Operation> started = new CopyOnWriteArrayList<>();

	private final List<Decision> decisions = new CopyOnWriteArrayList<>();

	private final List<StoreCall> storeCalls = new CopyOnWriteArrayList<>();

	private final List<Integer> renewed = new CopyOnWriteArrayList<>();

	private final List<IdempotencyKey> lost = new CopyOnWriteArrayList<>();

	private final List<Retried> retried = new CopyOnWriteArrayList<>();

	@Override
	public void runStarted(Operation operation, IdempotencyKey key) {
		this.started.add(operation);
	}

	@Override
	public void decided(Decision decision) {
		this.decisions.add(decision);
	}

	@Override
	public void storeCalled(String store, StoreVerb verb, StoreResult result, Duration took) {
		this.storeCalls.add(new StoreCall(store, verb, result));
	}

	@Override
	public void leasesRenewed(int leases) {
		this.renewed.add(leases);
	}

	@Override
	public void leaseLost(IdempotencyKey key) {
		this.lost.add(key);
	}

	@Override
	public void settlementRetried(StoreVerb verb, StoreResult result) {
		this.retried.add(new Retried(verb, result));
	}

	public List<Operation> started() {
		return this.started;
	}

	public List<Decision> decisions() {
		return this.decisions;
	}

	public List<Outcome> outcomes() {
		return this.decisions.stream().map(Decision::outcome).toList();
	}

	public List<StoreCall> storeCalls() {
		return this.storeCalls;
	}

	public List<Integer> renewed() {
		return this.renewed;
	}

	public List<IdempotencyKey> lost() {
		return this.lost;
	}

	public List<Retried> retried() {
		return this.retried;
	}

	/**
	 * A call of a store.
	 */
	public record StoreCall(String store, StoreVerb verb, StoreResult result) {
	}

	/**
	 * A repeated settlement.
	 */
	public record Retried(StoreVerb verb, StoreResult result) {
	}

}
