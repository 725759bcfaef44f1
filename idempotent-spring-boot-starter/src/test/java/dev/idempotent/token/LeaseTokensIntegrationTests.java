package dev.idempotent.token;

class LeaseTokensIntegrationTests extends TokenRules {

	LeaseTokensIntegrationTests() {
		super();
	}

}
