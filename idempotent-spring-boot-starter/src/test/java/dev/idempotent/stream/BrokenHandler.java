package dev.idempotent.stream;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationView;

/**
 * Throws in the method that the test names.
 */
final class BrokenHandler implements ObservationHandler<Observation.Context> {

	private final List<ObservationView> leaked = new CopyOnWriteArrayList<>();

	private volatile String broken = "";

	void failIn(String method) {
		this.broken = method;
	}

	/**
	 * Observations that were still current when the next one began.
	 */
	List<ObservationView> leaked() {
		return this.leaked;
	}

	@Override
	public void onStart(Observation.Context context) {
		if (context.getParentObservation() != null) {
			this.leaked.add(context.getParentObservation());
		}
		fail("start");
	}

	@Override
	public void onScopeOpened(Observation.Context context) {
		fail("scope");
	}

	@Override
	public void onError(Observation.Context context) {
		fail("error");
	}

	@Override
	public void onScopeClosed(Observation.Context context) {
		fail("close");
	}

	@Override
	public void onStop(Observation.Context context) {
		fail("stop");
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return true;
	}

	private void fail(String method) {
		if (this.broken.equals(method)) {
			throw new IllegalStateException("of the test");
		}
	}

}
