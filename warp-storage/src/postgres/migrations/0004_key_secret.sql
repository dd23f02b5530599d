-- Workers that hash fields of keys agree on their secret; this tells it from any other, and says nothing about it.
ALTER TABLE warp.store ADD COLUMN key_secret text;
