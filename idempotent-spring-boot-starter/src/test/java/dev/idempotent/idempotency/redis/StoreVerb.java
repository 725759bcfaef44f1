package dev.idempotent.idempotency.redis;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;

/**
 * The operations of a store.
 */
enum StoreVerb {

	CLAIM {
		@Override
		void ask(IdempotencyStore store, IdempotencyKey key) {
			store.claim(key, REQUEST, "owner", TIME);
		}
	},

	COMPLETE {
		@Override
		void ask(IdempotencyStore store, IdempotencyKey key) {
			store.complete(key, REQUEST, "owner", Samples.response("response"), TIME);
		}
	},

	RELEASE {
		@Override
		void ask(IdempotencyStore store, IdempotencyKey key) {
			store.release(key, "owner");
		}
	},

	RENEW {
		@Override
		void ask(IdempotencyStore store, IdempotencyKey key) {
			store.renew(key, "owner", TIME);
		}
	},

	FIND {
		@Override
		void ask(IdempotencyStore store, IdempotencyKey key) {
			store.find(key);
		}
	},

	FORGET {
		@Override
		void ask(IdempotencyStore store, IdempotencyKey key) {
			store.forget(key, "owner");
		}
	};

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final Duration TIME = Duration.ofMinutes(1);

	abstract void ask(IdempotencyStore store, IdempotencyKey key);

}
